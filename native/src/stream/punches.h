// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/fd.h"
#include "core/poller.h"

namespace keibi::stream {

// Where a peer is who dials us at this moment, and whose connection routers on the way let in only once we have dialled
// it (PROTOCOL 2.5).
struct PunchPlace {
  std::string host;  // numeric
  uint16_t port = 0;
  std::chrono::milliseconds wait{0};
};

// Dials peers from the port of a listener, again and again until each place's time is over. Non-blocking; the
// listener's thread only.
class Punches {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Punches(core::Poller* poller) : poller_(poller) {}

  // `id`: what the poller will say of it. One more than kMost ends the oldest.
  void Begin(PunchPlace place, uint16_t from_port, uint64_t id);

  // Goes on after the poller has named `id`. The connection, if there is one now, or an invalid Fd; `place` says whose.
  core::Fd Advance(uint64_t id, PunchPlace* place);

  // Tries again what is due, and forgets those whose time is over.
  void Retry();
  Clock::time_point next() const;  // when Retry has something to do

  void Clear() { punches_.clear(); }

 private:
  static constexpr size_t kMost = 64;
  struct Punch {
    PunchPlace place;
    uint16_t from_port;
    Clock::time_point deadline;
    Clock::time_point again;  // in the future of a try that failed, else the deadline
    core::Fd fd;
  };
  using At = std::map<uint64_t, Punch>::iterator;

  void Try(At at);
  void Fail(At at, int error);

  core::Poller* const poller_;
  std::map<uint64_t, Punch> punches_;  // by the order of their beginning
};

}  // namespace keibi::stream
