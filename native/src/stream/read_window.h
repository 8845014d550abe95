// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace keibi::stream {

// How much may be on its way ahead of a reader: what the path carries in two round trips, so that it never runs dry
// while the next is asked for. Told what arrives, and when it was asked for. Pure; one thread at a time.
class ReadWindow {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr uint64_t kLeast = uint64_t{4} << 20;
  static constexpr uint64_t kMost = uint64_t{64} << 20;

  // `in_flight`: asked for and not here, this arrival not counted.
  void Arrived(uint64_t bytes, Clock::time_point asked, Clock::time_point now, uint64_t in_flight);
  void Restart() { *this = {}; }  // another path

  uint64_t bytes() const;

 private:
  bool busy_ = false;  // something has been on its way since the last arrival
  Clock::time_point last_;
  uint64_t arrived_ = 0;  // in `elapsed_`
  std::chrono::duration<double> elapsed_{};
  double rate_ = 0;                               // bytes per second
  std::chrono::duration<double> round_trip_{-1};  // the least from an ask to its answer
};

}  // namespace keibi::stream
