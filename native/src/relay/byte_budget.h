// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace keibi::relay {

// A token bucket for bytes. An overdraft is paid back before more bytes may move. One thread.
class ByteBudget {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: no limit
  void SetRate(uint64_t bytes_per_second) { rate_ = bytes_per_second; }

  // The most that one turn should move: a sixteenth of a second's bytes, so that all pairs get a turn within a second.
  uint64_t turn_bytes() const {
    return rate_ == 0 ? kMostBytes : std::clamp<uint64_t>(rate_ / kTurnsPerSecond, kLeastBytes, kMostBytes);
  }

  // Whether bytes may move now.
  bool Has(Clock::time_point now) {
    if (rate_ == 0) return true;
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    filled_ = now;
    left_ = std::min(left_ + seconds * static_cast<double>(rate_), static_cast<double>(turn_bytes()));
    return left_ > 0;
  }
  void Spend(uint64_t bytes) {
    if (rate_ > 0) left_ -= static_cast<double>(bytes);
  }

  // How long until bytes may move again. Call it only after Has returned false.
  std::chrono::milliseconds Pause() const {
    return std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>((1 - left_) / static_cast<double>(rate_)));
  }

 private:
  static constexpr uint64_t kTurnsPerSecond = 16;
  static constexpr uint64_t kLeastBytes = uint64_t{1} << 12;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 20;

  uint64_t rate_ = 0;
  double left_ = 0;
  Clock::time_point filled_ = Clock::now();
};

}  // namespace keibi::relay
