// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/fd.h"
#include "core/poller.h"

namespace keibi::net {

// A peer that dials us at this moment. Routers on the way let its connection in only after we have dialled it (PROTOCOL
// 2.5).
struct PunchPlace {
  std::string host;  // numeric
  uint16_t port = 0;
  std::chrono::milliseconds wait{0};
};

// Dials peers from a listener's port, repeatedly, until each place's time is over. Non-blocking; the listener's thread
// only.
class HolePuncher {
 public:
  using Clock = std::chrono::steady_clock;

  explicit HolePuncher(core::Poller* poller) : poller_(poller) {}

  // `id`: the poller's id for it. One more than kMost ends the oldest.
  void Begin(PunchPlace place, uint16_t from_port, uint64_t id);

  // Call when the poller has named `id`. Returns the connection, or an invalid Fd if there is none yet; `place` gets
  // its peer.
  core::Fd Advance(uint64_t id, PunchPlace* place);

  // Retries due hole_puncher and drops expired ones.
  void Retry();
  Clock::time_point next() const;  // when Retry has something to do

  void Clear() { punches_.clear(); }

 private:
  static constexpr size_t kMost = 64;
  struct Punch {
    PunchPlace place;
    uint16_t from_port;
    Clock::time_point deadline;
    Clock::time_point again;  // when to retry after a failure, otherwise the deadline
    core::Fd fd;
  };
  using At = std::map<uint64_t, Punch>::iterator;

  void Try(At at);
  void Fail(At at, int error);

  core::Poller* const poller_;
  std::map<uint64_t, Punch> punches_;  // in the order of their start
};

}  // namespace keibi::net
