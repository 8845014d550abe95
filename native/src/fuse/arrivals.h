// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fuse/content.h"
#include "stream/doorbell.h"

namespace keibi::fuse {

// Reads of blocks that were asked for ahead, which come without another word of the Peer: each goes on when its blocks
// are here, or when that takes so long that they have to be asked for after all. Any thread.
class Arrivals {
 public:
  // `here`: all of the blocks. On a thread of this object, or on that of Await.
  using Then = std::function<void(bool here)>;

  explicit Arrivals(int cache);
  ~Arrivals();

  // Waits for blocks [first, end).
  void Await(std::shared_ptr<Content> content, uint32_t first, uint32_t end, Then then);

 private:
  using Clock = std::chrono::steady_clock;
  struct Awaited {
    std::shared_ptr<Content> content;
    uint32_t first, end;
    Then then;
    Clock::time_point until;

    bool here() const { return content->file->HasAll(first, end - first); }
  };

  void Run();
  std::vector<Awaited> TakeDue(Clock::time_point now);

  std::shared_ptr<stream::Doorbell> bell_;  // null where there is none: then nothing is waited for
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Awaited> awaited_;  // those first that wait longest
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
