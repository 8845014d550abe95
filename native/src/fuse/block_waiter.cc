// SPDX-License-Identifier: MPL-2.0
#include "fuse/block_waiter.h"

#include <algorithm>
#include <utility>

namespace keibi::fuse {
namespace {

// How long to wait for one window. On a short path, where messages to the daemon cost most, a window arrives within
// this.
constexpr std::chrono::milliseconds kPatience{20};

}  // namespace

BlockWaiter::BlockWaiter(int cache) {
  if (remote::BlockSignal::Make(cache, &signal_).ok()) thread_ = std::thread([this] { Run(); });
}

BlockWaiter::~BlockWaiter() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BlockWaiter::Await(std::shared_ptr<Content> content, uint32_t first, uint32_t end, Then then) {
  if (signal_ == nullptr) return then(false);
  {
    const std::scoped_lock lock(mutex_);
    awaited_.push_back({std::move(content), first, end, std::move(then), Clock::now() + kPatience});
    // The blocks may have arrived before they were awaited, and the waiting thread has already checked its list.
    if (awaited_.size() > 1 && awaited_.back().here()) signal_->Notify();
  }
  changed_.notify_one();
}

void BlockWaiter::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (awaited_.empty()) signal_->Ignore();
    changed_.wait(lock, [this] { return ending_ || !awaited_.empty(); });
    if (ending_) return;
    const uint32_t since = signal_->Listen();
    const auto now = Clock::now();
    std::vector<Awaited> due = TakeDue(now);
    const auto most = awaited_.empty() ? kPatience : awaited_.front().until - now;
    lock.unlock();
    for (Awaited& each : due) each.then(each.here());
    if (due.empty()) signal_->Wait(since, std::chrono::duration_cast<std::chrono::microseconds>(most));
    due.clear();
    lock.lock();
  }
}

std::vector<BlockWaiter::Awaited> BlockWaiter::TakeDue(Clock::time_point now) {
  const auto due = std::stable_partition(awaited_.begin(), awaited_.end(),
                                         [now](const Awaited& each) { return each.until > now && !each.here(); });
  std::vector<Awaited> taken(std::make_move_iterator(due), std::make_move_iterator(awaited_.end()));
  awaited_.erase(due, awaited_.end());
  return taken;
}

}  // namespace keibi::fuse
