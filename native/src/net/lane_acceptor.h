// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "aead/suite.h"
#include "frame/frame.h"

namespace keibi::net {

using SessionId = std::array<uint8_t, 16>;  // public (PROTOCOL 3)

// The data a listener needs to accept the lanes of one session (PROTOCOL 5.1).
struct ExpectedLanes {
  SessionId session_id{};
  frame::Key lane_secret;
  aead::Suite suite = aead::Suite::kAes256Gcm;
  frame::Role self = frame::Role::kResponder;  // the listening side's role; the lane's dialler has the other role
};

// Takes the lanes of one session from a listener.
class LaneAcceptor {
 public:
  virtual ~LaneAcceptor() = default;

  // Called on the listener's thread, so it must be quick and must not wait for the thread that stops the listener. Owns
  // `fd` from here on: connected, blocking, TCP_NODELAY set, hello already read and verified. `lane` is below
  // kMaxLaneNumbers and comes only once. `sealer` writes as ExpectedLanes::self; `opener` expects the frame after the
  // hello. A lane under verification during Listener::Forget may still arrive: refuse it by closing `fd`.
  virtual void OnLane(int fd, uint32_t lane, std::unique_ptr<frame::Sealer> sealer,
                      std::unique_ptr<frame::Opener> opener) = 0;
};

}  // namespace keibi::net
