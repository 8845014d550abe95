// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/lane_buffer.h"

namespace keibi::receive {

// A few threads that write frames full of small files, so that a lane can keep receiving. Bounded: a lane that is too
// fast waits.
class WriterPool {
 public:
  using Work = std::function<void(const uint8_t* plaintext, size_t bytes)>;

  WriterPool(size_t threads, Work work);
  ~WriterPool() { Stop(); }

  // Takes a full buffer and returns an empty one in its place. Waits while too many are queued; false once stopped.
  bool Exchange(std::unique_ptr<net::LaneBuffer>* buffer, size_t plaintext_bytes);

  void Stop();  // drops queued buffers; joins

 private:
  struct Job {
    std::unique_ptr<net::LaneBuffer> buffer;
    size_t bytes;
  };

  void Run();

  static constexpr size_t kMaxQueued = 8;

  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queued_;
  std::vector<std::unique_ptr<net::LaneBuffer>> spare_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace keibi::receive
