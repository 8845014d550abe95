// SPDX-License-Identifier: MPL-2.0
#include "net/rate_limiter.h"

#include <algorithm>
#include <utility>

namespace keibi::net {

namespace {

constexpr uint64_t kSlicesPerSecond = 20;
constexpr size_t kSmallestSlice = 1 << 10;
// A late caller, usually after too long a sleep or on a slow disk, may catch up this much, so that the average rate
// holds. After idle time this is also the burst on the link.
constexpr std::chrono::milliseconds kCatchUp{100};
// How often a lane checks whether its held budget was released. Nothing else waits on the lane meanwhile.
constexpr std::chrono::milliseconds kHeldLook{50};

}  // namespace

RateBudget::RateBudget(uint64_t bytes_per_second, std::shared_ptr<RateClock> clock)
    : bytes_per_second_(bytes_per_second), clock_(std::move(clock)) {}

size_t RateBudget::Slice(size_t wanted) const {
  if (unlimited()) return wanted;
  return std::min<uint64_t>(wanted, std::max<uint64_t>(kSmallestSlice, bytes_per_second_ / kSlicesPerSecond));
}

RateClock::Time RateBudget::Book(size_t bytes) {
  const RateClock::Time now = clock_->Now();
  if (unlimited()) return now;
  const std::chrono::duration<double> cost(static_cast<double>(bytes) / static_cast<double>(bytes_per_second_));
  const std::scoped_lock lock(mutex_);
  next_ = std::exchange(begun_, true) ? std::max(next_, now - kCatchUp) : now;
  return std::exchange(next_, next_ + std::chrono::duration_cast<RateClock::Time::duration>(cost));
}

RateLimiter::RateLimiter(std::shared_ptr<RateBudget> budget)
    : budget_(budget ? std::move(budget) : std::make_shared<RateBudget>(0)) {}

void RateLimiter::Pass(size_t bytes) {
  if (budget_->unlimited() && !budget_->held()) return;
  const RateClock::Time until = budget_->Book(bytes);
  RateClock& clock = budget_->clock();
  std::unique_lock lock(mutex_);
  while (!stopped_ && (budget_->held() || clock.Now() < until))
    clock.Wait(&stopping_, &lock, budget_->held() ? clock.Now() + kHeldLook : until);
}

void RateLimiter::Stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  stopping_.notify_all();
}

}  // namespace keibi::net
