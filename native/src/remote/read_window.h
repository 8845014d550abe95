// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace keibi::remote {

// How many bytes to prefetch ahead of a reader: what the path carries in two round trips, so that it never runs dry
// while the next request travels. Learns from arrivals and their request times. Pure; one thread at a time.
class ReadWindow {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr uint64_t kLeast = uint64_t{4} << 20;
  static constexpr uint64_t kMost = uint64_t{64} << 20;

  // `in_flight`: bytes requested and not arrived, without this arrival.
  void Arrived(uint64_t bytes, Clock::time_point asked, Clock::time_point now, uint64_t in_flight);
  void Restart() { *this = {}; }  // for another path

  uint64_t bytes() const;

 private:
  bool busy_ = false;  // requests have been pending since the last arrival
  Clock::time_point last_;
  uint64_t arrived_ = 0;  // in `elapsed_`
  std::chrono::duration<double> elapsed_{};
  double rate_ = 0;                               // bytes per second
  std::chrono::duration<double> round_trip_{-1};  // the shortest from a request to its answer
};

}  // namespace keibi::remote
