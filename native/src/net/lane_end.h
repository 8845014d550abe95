// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

#include "core/status.h"

namespace keibi::net {

// How one lane has ended.
struct LaneEnd {
  uint32_t lane = 0;
  // with file bytes: the receiver counts frames it took whole, the sender frames it sent or began to send
  uint64_t frames = 0;
  core::Status status;  // kOk after an end frame
};

}  // namespace keibi::net
