// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/fd.h"
#include "stream/lane_registry.h"

namespace keibi::stream {

// A connection of which it is not known yet what it is (PROTOCOL 2.1), or whose lane hello is not complete.
// Non-blocking; reads never more than belongs to the preamble and the hello.
class Undecided {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Kind : uint8_t {
    kUnknown,     // not enough has arrived
    kRefused,     // not one of ours, or the other side is gone
    kRendezvous,  // nothing was read
    kControl,     // the preamble was read
    kLane,        // the preamble and hello() were read
  };

  Undecided(core::Fd fd, std::string address, uint16_t port, Clock::time_point deadline)
      : fd(std::move(fd)), address(std::move(address)), port(port), deadline(deadline) {}

  // Reads on after something has arrived. Anything but kUnknown is the last word.
  Kind Advance();
  LaneHello* hello() { return &hello_; }

  core::Fd fd;
  const std::string address;
  const uint16_t port;
  const Clock::time_point deadline;

 private:
  Kind Peek();
  Kind ReadHello();

  bool is_lane_ = false;
  size_t hello_bytes_ = 0;  // of hello_, arrived so far
  LaneHello hello_;
};

}  // namespace keibi::stream
