// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "frame/frame.h"
#include "frame/rekey.h"
#include "net/lane_acceptor.h"
#include "relay/wire.h"

namespace keibi::net {

// A lane's target, and the way to dial it.
struct LanePlace {
  std::string host;  // numeric; the relay's if there is a token
  uint16_t port = 0;
  std::optional<relay::Token> token = std::nullopt;  // join it first (PROTOCOL 2.3)
  std::optional<uint16_t> from_port = std::nullopt;  // dial from this port while the other side dials us (2.5)
};

// A lane after its hello: later frames are sealed by `sealer` and opened by `opener`.
struct DialledLane {
  core::Fd socket;
  std::unique_ptr<frame::Sealer> sealer;
  std::unique_ptr<frame::Opener> opener;
};

// Dials one lane and sends its hello (PROTOCOL 5.1). May block. kPeerUnreachable, kSessionLost; kCancelled soon after
// `stopped`; from a relay kRendezvousBusy, kHandshakeTimeout.
core::Status DialLane(const LanePlace& place, uint32_t lane, const ExpectedLanes& session,
                      std::shared_ptr<const frame::RekeySecrets> rekeys, const std::atomic<bool>& stopped,
                      DialledLane* dialled);

}  // namespace keibi::net
