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
#include "remote/block_signal.h"

namespace keibi::fuse {

// Reads of prefetched blocks, which arrive without a further message to the daemon. Each read continues when its blocks
// are here, or after a timeout, when they must be requested after all. Any thread.
class BlockWaiter {
 public:
  // `here`: all of the blocks have arrived. Called on a thread of this object, or on that of Await.
  using Then = std::function<void(bool here)>;

  explicit BlockWaiter(int cache);
  ~BlockWaiter();

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

  std::shared_ptr<remote::BlockSignal> signal_;  // null where unsupported: then no read waits here
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Awaited> awaited_;  // longest waiting first
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
