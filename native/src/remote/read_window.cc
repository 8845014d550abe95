// SPDX-License-Identifier: MPL-2.0
#include "remote/read_window.h"

#include <algorithm>

namespace keibi::remote {
namespace {

// A rate is measured over at least this time.
constexpr std::chrono::milliseconds kMeasured{50};
// A slower period lowers the rate at most to this share.
constexpr double kFading = 0.9;
// From an arrival to the next request: the reader has to wake up and request.
constexpr std::chrono::milliseconds kTurn{4};

}  // namespace

void ReadWindow::Arrived(uint64_t bytes, Clock::time_point asked, Clock::time_point now, uint64_t in_flight) {
  const std::chrono::duration<double> took = now - asked;
  if (round_trip_.count() < 0 || took < round_trip_) round_trip_ = took;
  // A path without pending requests shows no rate: idle times are left out.
  if (busy_) {
    arrived_ += bytes;
    elapsed_ += now - last_;
  }
  last_ = now;
  busy_ = in_flight > 0;
  if (elapsed_ < kMeasured) return;
  rate_ = std::max(static_cast<double>(arrived_) / elapsed_.count(), rate_ * kFading);
  arrived_ = 0;
  elapsed_ = {};
}

uint64_t ReadWindow::bytes() const {
  if (rate_ == 0) return kLeast;
  const std::chrono::duration<double> turn = round_trip_ + kTurn;
  const double turns = 2 * rate_ * turn.count();
  return static_cast<uint64_t>(
      std::clamp(turns + static_cast<double>(kLeast), static_cast<double>(kLeast), static_cast<double>(kMost)));
}

}  // namespace keibi::remote
