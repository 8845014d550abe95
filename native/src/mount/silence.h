// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace keibi::mount {

// How long to wait for an answer once the other peer is silent. All pending requests share one timeout, which starts at
// the first unanswered one. Pure; one thread at a time.
class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  explicit Silence(Duration patience) : patience_(patience) {}

  void Heard(Time now) {
    heard_ = now;
    if (!away_since_) since_.reset();
  }
  // A request sent at `asked` has timed out.
  void TimedOut(Time asked) {
    if (asked < heard_) return;
    since_ = since_ ? std::min(*since_, asked) : asked;
  }
  // The peer is known to be away. `asked`: when the oldest pending request was sent.
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
    // The peer may be back, and the answer to this request shows it.
    if (!away_since_) return std::min(patience_, std::max<Duration>(patience_ / kProbePart, kLeastProbe));
    if (now - *away_since_ >= patience_ / kGracePart) return Duration::zero();
    return std::clamp(*since_ + patience_ - now, Duration::zero(), patience_);
  }

 private:
  // Requests wait for a peer that returns this soon: 5 s of 30.
  static constexpr int kGracePart = 6;
  static constexpr int kProbePart = 30;
  static constexpr std::chrono::milliseconds kLeastProbe{250};

  const Duration patience_;
  Time heard_;
  std::optional<Time> since_;       // when the first unanswered request was sent
  std::optional<Time> away_since_;  // set while the peer is known to be away
};

}  // namespace keibi::mount
