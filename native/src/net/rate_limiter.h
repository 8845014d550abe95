// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace keibi::net {

// The clock that a rate uses. Tests have their own clock, whose waits take no time.
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

// A rate shared by any number of lanes, of one job or of several. Callers are served in order, a slice at a time, so
// lanes share evenly and use what others leave. It counts all bytes that lanes carry: file bytes and the frames around
// them (50 bytes per MiB). Any thread.
class RateBudget {
 public:
  // A rate of 0 is no limit.
  explicit RateBudget(uint64_t bytes_per_second, std::shared_ptr<RateClock> clock = std::make_shared<RateClock>());

  // How much of `wanted` to move before the next Book: about a twentieth of a second's worth.
  size_t Slice(size_t wanted) const;
  // The time from which `bytes` may move. Counts them as moved.
  RateClock::Time Book(size_t bytes);
  bool unlimited() const { return bytes_per_second_ == 0; }
  // While it is held nothing moves, even without a limit.
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

// Applies a budget to the lanes of one job. Any thread.
class RateLimiter {
 public:
  // A null budget means no limit.
  explicit RateLimiter(std::shared_ptr<RateBudget> budget);

  size_t Slice(size_t wanted) const { return budget_->Slice(wanted); }
  // Waits until `bytes` more may move and the budget is not held. Returns at once when stopped.
  void Pass(size_t bytes);
  void Stop();

 private:
  const std::shared_ptr<RateBudget> budget_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
};

}  // namespace keibi::net
