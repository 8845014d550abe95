// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "relay/wire.h"

namespace keibi::stream {

// A relay that a listener is told to join, so that somebody who cannot dial it can be met there (PROTOCOL 2.3).
struct RelayPlace {
  std::string host;  // numeric
  uint16_t port = 0;
  relay::Token token{};
  std::chrono::milliseconds wait{0};  // for the dial and for the other side to come
  uint64_t number = 0;                // by which it can be cancelled, if ever
};

// Once, on the listener's thread or the one that stops it: kOk; kPeerUnreachable, kRendezvousBusy, kHandshakeTimeout,
// kCancelled when the listener is stopped.
using OnJoined = std::function<void(core::Status)>;

// A connection on its way through a relay: dialled, then waiting for the relay's answer. Non-blocking.
class RelayJoin {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { kWaiting, kJoined, kFailed };

  RelayJoin(RelayPlace place, OnJoined on_joined)
      : place(std::move(place)), deadline(Clock::now() + this->place.wait), on_joined_(std::move(on_joined)) {}

  core::Status Dial();  // begins; kPeerUnreachable when it cannot
  // Goes on after something has happened to the connection. kFailed: `status` says why.
  State Advance(core::Status* status);
  void Settle(core::Status status) { on_joined_(status); }

  const RelayPlace place;
  const Clock::time_point deadline;
  core::Fd fd;

 private:
  const OnJoined on_joined_;
  bool said_hello_ = false;
};

}  // namespace keibi::stream
