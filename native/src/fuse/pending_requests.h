// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "fuse/lowlevel.h"

namespace keibi::fuse {

// The kernel's requests that wait for the daemon. If the process is killed, a thread of this object answers its request
// with EINTR, and a later Take fails. Any thread.
class PendingRequests {
 public:
  PendingRequests() : thread_([this] { Run(); }) {}
  ~PendingRequests();

  // Keeps a request until Take. Call this before any thread could answer it.
  uint64_t Add(fuse_req_t request);
  // Whether it is still unanswered.
  bool Holds(uint64_t ticket);
  // False if it was already answered.
  bool Take(uint64_t ticket, fuse_req_t* request);

 private:
  struct Request {
    fuse_req_t request;
    bool armed = false;  // libfuse has released it, so it may be answered
    bool given_up = false;
  };

  static void OnInterrupt(fuse_req_t request, void* ticket);
  void GiveUp(uint64_t ticket);
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<uint64_t, Request> requests_;
  std::deque<uint64_t> given_up_;
  uint64_t last_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
