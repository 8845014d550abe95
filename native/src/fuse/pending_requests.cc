// SPDX-License-Identifier: MPL-2.0
#include "fuse/pending_requests.h"

#include <cerrno>

#include "fuse/server.h"

namespace keibi::fuse {

PendingRequests::~PendingRequests() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

uint64_t PendingRequests::Add(fuse_req_t request) {
  uint64_t ticket;
  {
    const std::scoped_lock lock(mutex_);
    ticket = ++last_;
    requests_[ticket] = {request};
  }
  // Reports an earlier interrupt at once. The request must not be answered until this has returned.
  fuse_req_interrupt_func(request, &PendingRequests::OnInterrupt, reinterpret_cast<void*>(ticket));
  const std::scoped_lock lock(mutex_);
  Request& added = requests_[ticket];
  added.armed = true;
  if (!added.given_up) return ticket;
  given_up_.push_back(ticket);
  changed_.notify_one();
  return ticket;
}

bool PendingRequests::Holds(uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  return requests_.contains(ticket);
}

bool PendingRequests::Take(uint64_t ticket, fuse_req_t* request) {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(ticket);
  if (found == requests_.end()) return false;
  *request = found->second.request;
  requests_.erase(found);
  return true;
}

// Called on a thread of libfuse, which holds the request.
void PendingRequests::OnInterrupt(fuse_req_t request, void* ticket) {
  static_cast<Server*>(fuse_req_userdata(request))->pending_requests().GiveUp(reinterpret_cast<uint64_t>(ticket));
}

void PendingRequests::GiveUp(uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  const auto found = requests_.find(ticket);
  if (found == requests_.end()) return;
  found->second.given_up = true;
  if (!found->second.armed) return;
  given_up_.push_back(ticket);
  changed_.notify_one();
}

void PendingRequests::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !given_up_.empty(); });
    if (ending_) return;
    const uint64_t ticket = given_up_.front();
    given_up_.pop_front();
    lock.unlock();
    if (fuse_req_t request; Take(ticket, &request)) fuse_reply_err(request, EINTR);
    lock.lock();
  }
}

}  // namespace keibi::fuse
