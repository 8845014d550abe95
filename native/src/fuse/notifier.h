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

// Tells the kernel what to forget, on a thread of its own: the kernel may make it wait for an answer to a request of
// its own, which another thread has to give. Any thread.
class Notifier {
 public:
  ~Notifier();

  void Begin(fuse_session* session);
  void Tell(mount::Tree::Invalidations invalidations);
  // `then` comes when the kernel knows of these, and of all that it was to be told before; on the notifier's thread.
  void Tell(mount::Tree::Invalidations invalidations, std::function<void()> then);
  // At once, which the kernel does not make anybody wait for: what is known of a file, but not its pages.
  void TellAttributes(uint64_t ino);
  // Tells nothing more, and waits for what is being told: a process that ends before would not end.
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
