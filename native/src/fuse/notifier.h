// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "fuse/lowlevel.h"
#include "mount/tree.h"

namespace keibi::fuse {

// Tells the kernel what to forget, on a thread of its own: the kernel may make it wait for an answer to a request of
// its own, which another thread has to give. Any thread.
class Notifier {
 public:
  ~Notifier();

  void Begin(fuse_session* session);
  void Tell(mount::Tree::Invalidations invalidations);
  // At once, which the kernel does not make anybody wait for: what is known of a file, but not its pages.
  void TellAttributes(uint64_t ino);
  // Tells nothing more, and waits for what is being told: a process that ends before would not end.
  void End(std::chrono::milliseconds most);

 private:
  void Run();

  fuse_session* session_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_, told_;
  std::deque<mount::Invalidation> waiting_;
  bool ending_ = false, telling_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
