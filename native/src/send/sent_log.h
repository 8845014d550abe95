// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "send/send_queue.h"

namespace keibi::send {

// A lane's sent frames that the receiver has not acknowledged, in order. Any thread.
class SentLog {
 public:
  // Call for each frame of segments, before it is sent.
  void Add(SendWork work) {
    const std::scoped_lock lock(mutex_);
    works_.push_back(std::move(work));
  }

  // The receiver has taken `frames` frames since the lane's beginning. False when that is more than were sent.
  bool Acknowledge(uint64_t frames) {
    const std::scoped_lock lock(mutex_);
    if (frames > taken_ + works_.size()) return false;
    for (; taken_ < frames; taken_++) works_.pop_front();
    return true;
  }

  // Takes the rest, in order, and leaves the log empty.
  std::deque<SendWork> TakeRest() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(works_, {});
  }

 private:
  std::mutex mutex_;
  uint64_t taken_ = 0;
  std::deque<SendWork> works_;
};

}  // namespace keibi::send
