// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "fuse/lowlevel.h"
#include "mount/tree.h"

namespace keibi::fuse {

// Tells the kernel what to forget, on a thread of its own: the kernel may block it until another thread answers one of
// the kernel's requests. Any thread.
class Notifier {
 public:
  ~Notifier();

  void Begin(fuse_session* session);
  void Tell(mount::Tree::Invalidations invalidations);
  // `then` runs on the notifier's thread, once the kernel has processed these and all earlier invalidations.
  void Tell(mount::Tree::Invalidations invalidations, std::function<void()> then);
  // Invalidates a file's attributes but not its pages. Runs at once, since the kernel never blocks on that.
  void TellAttributes(uint64_t ino);
  // Stops notifying, and waits up to `most` for the current call: a process that exits during it would hang.
  void End(std::chrono::milliseconds most);

 private:
  void Run();

  fuse_session* session_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_, told_;
  struct News {
    mount::Invalidation what;
    std::function<void()> then;
  };
  std::deque<News> waiting_;
  bool ending_ = false, telling_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
