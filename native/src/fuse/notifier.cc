// SPDX-License-Identifier: MPL-2.0
#include "fuse/notifier.h"

#include <utility>

namespace keibi::fuse {
namespace {

constexpr off_t kAttributesAlone = -1;

}  // namespace

Notifier::~Notifier() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Notifier::Begin(fuse_session* session) {
  session_ = session;
  thread_ = std::thread([this] { Run(); });
}

void Notifier::Notify(mount::InodeTable::Invalidations invalidations) {
  if (invalidations.empty()) return;
  {
    const std::scoped_lock lock(mutex_);
    for (mount::Invalidation& one : invalidations) pending_requests_.push_back({std::move(one), {}});
  }
  changed_.notify_one();
}

void Notifier::Notify(mount::InodeTable::Invalidations invalidations, std::function<void()> then) {
  {
    const std::scoped_lock lock(mutex_);
    for (mount::Invalidation& one : invalidations) pending_requests_.push_back({std::move(one), {}});
    pending_requests_.push_back({{}, std::move(then)});
  }
  changed_.notify_one();
}

void Notifier::NotifyAttributes(uint64_t ino) { fuse_lowlevel_notify_inval_inode(session_, ino, kAttributesAlone, 0); }

void Notifier::End(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  ending_ = true;
  notified_.wait_for(lock, most, [this] { return !notifying_; });
}

void Notifier::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !pending_requests_.empty(); });
    if (ending_) return;
    const auto [one, then] = std::move(pending_requests_.front());
    pending_requests_.pop_front();
    notifying_ = true;
    lock.unlock();
    // An error that the kernel does not know it, or no longer does, is fine.
    if (one.ino != 0) fuse_lowlevel_notify_inval_inode(session_, one.ino, one.content ? 0 : kAttributesAlone, 0);
    if (one.parent != 0) fuse_lowlevel_notify_inval_entry(session_, one.parent, one.name.c_str(), one.name.size());
    if (then) then();
    lock.lock();
    notifying_ = false;
    notified_.notify_all();
  }
}

}  // namespace keibi::fuse
