// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace keibi::mount {

// For how long an answer of the other peer is waited for, once it says nothing: one time of patience for all that is
// asked meanwhile, from the first question that was not answered. Pure; one thread at a time.
class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  explicit Silence(Duration patience) : patience_(patience) {}

  void Heard(Time now) {
    heard_ = now;
    if (!away_since_) since_.reset();
  }
  // A question of then was not answered in time.
  void TimedOut(Time asked) {
    if (asked < heard_) return;
    since_ = since_ ? std::min(*since_, asked) : asked;
  }
  // The peer is known to be away. `asked`: of the oldest question that waits.
  void Lost(Time now, std::optional<Time> asked) {
    if (away_since_) return;
    away_since_ = now;
    TimedOut(now);
    if (asked) TimedOut(*asked);
  }
  void Back(Time now) {
    away_since_.reset();
    Heard(now);
  }

  // How long a request sent now may wait for its answer; zero if no answer is expected.
  Duration Left(Time now) const {
    if (!since_) return patience_;
    // It may be there again, and the answer to this says so.
    if (!away_since_) return std::min(patience_, std::max<Duration>(patience_ / kProbePart, kLeastProbe));
    if (now - *away_since_ >= patience_ / kGracePart) return Duration::zero();
    return std::clamp(*since_ + patience_ - now, Duration::zero(), patience_);
  }

 private:
  // A peer that comes back so soon is waited for: 5 s of 30.
  static constexpr int kGracePart = 6;
  static constexpr int kProbePart = 30;
  static constexpr std::chrono::milliseconds kLeastProbe{250};

  const Duration patience_;
  Time heard_;
  std::optional<Time> since_;       // the first question of which nothing was heard
  std::optional<Time> away_since_;  // while it is known to be away
};

}  // namespace keibi::mount
