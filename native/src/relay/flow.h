// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "relay/pipe.h"

namespace keibi::relay {

// One direction of a pair. A slow reader holds its own writer back: bytes that do not fit the pipe stay in the writer's
// socket. One thread.
class Flow {
 public:
  enum class State : uint8_t {
    kWaits,   // until more bytes arrive, or there is room again
    kMore,    // has used up its turn
    kEnded,   // the end was passed on
    kBroken,  // one of the two sockets failed
  };

  // Moves bytes between two non-blocking sockets until none are left, there is no room, or `turn_bytes` were moved.
  State Pump(int from, int to, uint64_t turn_bytes, PipePool* pool, uint64_t* moved);

 private:
  std::unique_ptr<Pipe> pipe_;  // while it holds bytes
  bool end_seen_ = false;
  bool ended_ = false;
};

}  // namespace keibi::relay
