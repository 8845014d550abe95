// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

#include "platform/path_state.h"

namespace keibi::net {

// The current state of a live lane.
struct LaneState {
  uint32_t lane = 0;
  uint64_t bytes = 0;   // on the wire, received
  uint64_t frames = 0;  // of segments, taken whole
  platform::PathState path;
};

}  // namespace keibi::net
