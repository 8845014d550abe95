// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/fd.h"
#include "net/lane_registry.h"
#include "relay/address_count.h"
#include "relay/wire.h"

namespace keibi::net {

// A connection whose kind is not yet known (PROTOCOL 2.1), or whose lane hello or token is incomplete. Non-blocking;
// never reads beyond the preamble and its hello or token.
class PreambleReader {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Kind : uint8_t {
    kUnknown,     // not enough has arrived
    kRefused,     // unknown, or the other side is gone
    kRendezvous,  // nothing was read
    kControl,     // the preamble was read
    kHttp,        // nothing was read
    kTls,         // nothing was read
    kLane,        // the preamble and hello() were read
    kRelay,       // the preamble and token() were read
  };
  struct From {
    std::string address;
    uint16_t port = 0;
    bool relayed = false;  // this side dialled a relay, and the other side is behind it
    relay::Networks networks;
  };

  PreambleReader(core::Fd fd, From from, Clock::time_point deadline, bool takes_http)
      : fd(std::move(fd)), from(std::move(from)), deadline(deadline), takes_http_(takes_http) {}

  // Continues to read after more has arrived. Any result except kUnknown is final.
  Kind Advance();
  LaneHello* hello() { return &hello_; }
  relay::Token token() const;

  core::Fd fd;
  const From from;
  const Clock::time_point deadline;
  bool held = false;  // a lane that came before its session was expected

 private:
  Kind Peek();
  Kind ReadRest();

  const bool takes_http_;
  Kind kind_ = Kind::kUnknown;  // kLane, kRelay: the preamble was read; the rest is still arriving
  size_t rest_bytes_ = 0;       // of hello_, arrived so far
  LaneHello hello_;             // or the token
  static_assert(relay::kTokenBytes <= kLaneHelloBytes);
};

}  // namespace keibi::net
