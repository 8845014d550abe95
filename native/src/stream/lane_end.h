// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

#include "core/status.h"

namespace keibi::stream {

// How one lane has ended.
struct LaneEnd {
  uint32_t lane = 0;
  uint64_t frames = 0;  // with bytes: at the receiver those it took whole, at the sender those it had sent or begun to
  core::Status status;  // kOk after an end frame
};

}  // namespace keibi::stream
