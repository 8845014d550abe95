// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace keibi::stream {

// The time that a rate is kept by. Tests have one of their own, whose waits take no time.
class RateClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~RateClock() = default;
  virtual Time Now() { return std::chrono::steady_clock::now(); }
  // Returns at `until`, or earlier when `changed` is notified. `lock` is held before and after.
  virtual void Wait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock, Time until) {
    changed->wait_until(*lock, until);
  }
};

// A rate that any number of lanes, of one job or of several, keep to together: who asks first moves first, a slice at a
// time, so that they share evenly and what one cannot use is the others'. Counted is what lanes carry: file bytes and
// the frames around them (50 bytes a MiB). Any thread.
class RateBudget {
 public:
  // A rate of 0 is no limit.
  explicit RateBudget(uint64_t bytes_per_second, std::shared_ptr<RateClock> clock = std::make_shared<RateClock>());

  // How much of `wanted` to move before asking again: about a twentieth of a second's worth.
  size_t Slice(size_t wanted) const;
  // From when on `bytes` may move. They count as moved.
  RateClock::Time Book(size_t bytes);
  bool unlimited() const { return bytes_per_second_ == 0; }
  // While held nothing moves, with or without a limit.
  void Hold(bool held) { held_.store(held); }
  bool held() const { return held_.load(); }
  RateClock& clock() const { return *clock_; }

 private:
  const uint64_t bytes_per_second_;
  const std::shared_ptr<RateClock> clock_;
  std::atomic<bool> held_ = false;
  std::mutex mutex_;
  bool begun_ = false;
  RateClock::Time next_;
};

// Holds the lanes of one job to a budget. Any thread.
class RateLimiter {
 public:
  // No budget is no limit.
  explicit RateLimiter(std::shared_ptr<RateBudget> budget);

  size_t Slice(size_t wanted) const { return budget_->Slice(wanted); }
  // Waits until `bytes` more may move, which is not while the budget is held; not at all once stopped.
  void Pass(size_t bytes);
  void Stop();

 private:
  const std::shared_ptr<RateBudget> budget_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
};

}  // namespace keibi::stream
