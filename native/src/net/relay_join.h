// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "relay/wire.h"

namespace keibi::net {

// A relay that a listener joins, so that a peer that cannot dial it can meet it there (PROTOCOL 2.3).
struct RelayPlace {
  std::string host;  // numeric
  uint16_t port = 0;
  relay::Token token{};
  std::chrono::milliseconds wait{0};  // for the dial and for the other side to come
  uint64_t number = 0;                // for CancelJoin
};

// Called once, on the listener's thread or the thread that stops it: kOk; kPeerUnreachable, kRendezvousBusy,
// kHandshakeTimeout, kCancelled when the listener is stopped.
using OnJoined = std::function<void(core::Status)>;

// A connection through a relay: it dials, then waits for the relay's answer. Non-blocking.
class RelayJoin {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { kWaiting, kJoined, kFailed };

  RelayJoin(RelayPlace place, OnJoined on_joined)
      : place(std::move(place)), deadline(Clock::now() + this->place.wait), on_joined_(std::move(on_joined)) {}

  core::Status Dial();  // begins; kPeerUnreachable when it cannot
  // Call after an event on the connection. kFailed: `status` says why.
  State Advance(core::Status* status);
  void Settle(core::Status status) { on_joined_(status); }

  const RelayPlace place;
  const Clock::time_point deadline;
  core::Fd fd;

 private:
  const OnJoined on_joined_;
  bool said_hello_ = false;
};

}  // namespace keibi::net
