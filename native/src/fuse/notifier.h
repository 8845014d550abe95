// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "fuse/lowlevel.h"
#include "mount/inode_table.h"

namespace keibi::fuse {

// Notifies the kernel what to forget, on a thread of its own: the kernel may block it until another thread answers one
// of the kernel's requests. Any thread.
class Notifier {
 public:
  ~Notifier();

  void Begin(fuse_session* session);
  void Notify(mount::InodeTable::Invalidations invalidations);
  // `then` runs on the notifier's thread, once the kernel has processed these and all earlier invalidations.
  void Notify(mount::InodeTable::Invalidations invalidations, std::function<void()> then);
  // Invalidates a file's attributes but not its pages. Runs at once, since the kernel never blocks on that.
  void NotifyAttributes(uint64_t ino);
  // Stops notifying, and waits up to `most` for the current call: a process that exits during it would hang.
  void End(std::chrono::milliseconds most);

 private:
  void Run();

  fuse_session* session_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_, notified_;
  struct News {
    mount::Invalidation what;
    std::function<void()> then;
  };
  std::deque<News> pending_requests_;
  bool ending_ = false, notifying_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
