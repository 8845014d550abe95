// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/fd.h"
#include "relay/address_count.h"
#include "relay/wire.h"
#include "stream/lane_registry.h"

namespace keibi::stream {

// A connection of which it is not known yet what it is (PROTOCOL 2.1), or whose lane hello or token is not complete.
// Non-blocking; reads never more than belongs to the preamble and what follows it.
class Undecided {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Kind : uint8_t {
    kUnknown,     // not enough has arrived
    kRefused,     // not one of ours, or the other side is gone
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
    bool relayed = false;  // this side dialled a relay, and the other side is behind that
    relay::Networks networks;
  };

  Undecided(core::Fd fd, From from, Clock::time_point deadline, bool takes_http)
      : fd(std::move(fd)), from(std::move(from)), deadline(deadline), takes_http_(takes_http) {}

  // Reads on after something has arrived. Anything but kUnknown is the last word.
  Kind Advance();
  LaneHello* hello() { return &hello_; }
  relay::Token token() const;

  core::Fd fd;
  const From from;
  const Clock::time_point deadline;
  bool held = false;  // a lane that came before its session is expected

 private:
  Kind Peek();
  Kind ReadRest();

  const bool takes_http_;
  Kind kind_ = Kind::kUnknown;  // kLane, kRelay: by its preamble, which is read; the rest is on its way
  size_t rest_bytes_ = 0;       // of hello_, arrived so far
  LaneHello hello_;             // or the token
  static_assert(relay::kTokenBytes <= kLaneHelloBytes);
};

}  // namespace keibi::stream
