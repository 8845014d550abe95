// SPDX-License-Identifier: MPL-2.0
#include "net/lane_dial.h"

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "core/bytes.h"
#include "manifest/segment.h"
#include "net/socket.h"

namespace keibi::net {
namespace {

using core::Code;
using core::Status;
using frame::Role;

constexpr std::chrono::seconds kDialTimeout{10};
constexpr std::chrono::seconds kRelayTimeout{30};  // the sender must first hear of the lane, and then dial
constexpr std::array<uint8_t, 8> kLanePreamble = {'K', 'E', 'I', 'B', 'I', '-', 'L', '1'};

Status SayHello(int fd, uint32_t lane, const ExpectedLanes& session, frame::Sealer* sealer) {
  std::vector<uint8_t> hello(kLanePreamble.begin(), kLanePreamble.end());
  hello.insert(hello.end(), session.session_id.begin(), session.session_id.end());
  hello.resize(hello.size() + sizeof lane + frame::kOverheadBytes + 1);
  uint8_t* const sealed = hello.data() + hello.size() - frame::kOverheadBytes - 1;
  core::StoreBigEndian<uint32_t>(sealed - sizeof lane, lane);
  sealed[frame::kHeaderBytes] = static_cast<uint8_t>(manifest::LaneFrame::kHello);
  if (sealer->Seal(sealed, 1) == 0) return Status::Of(Code::kInternal);
  RateLimiter unlimited(nullptr);
  return SendAll(fd, hello.data(), hello.size(), &unlimited);
}

}  // namespace

Status DialLane(const LanePlace& place, uint32_t lane, const ExpectedLanes& session,
                std::shared_ptr<const frame::RekeySecrets> rekeys, const std::atomic<bool>& stopped,
                DialledLane* dialled) {
  const Status status =
      place.from_port ? DialThrough(*place.from_port, place.host, place.port, kDialTimeout, stopped, &dialled->socket)
                      : Dial(place.host, place.port, kDialTimeout, stopped, &dialled->socket);
  if (!status.ok()) return status;
  if (place.token) {
    const Status joined = JoinRelay(dialled->socket.get(), *place.token, kRelayTimeout, stopped);
    if (!joined.ok()) return joined;
  }
  const auto key = [&](Role writer) { return frame::LaneKey(session.lane_secret, session.suite, writer, lane); };
  const Role other = session.self == Role::kInitiator ? Role::kResponder : Role::kInitiator;
  dialled->sealer = std::make_unique<frame::Sealer>(session.suite, key(session.self));
  dialled->opener = std::make_unique<frame::Opener>(session.suite, key(other));
  dialled->opener->Follow(std::move(rekeys));
  return SayHello(dialled->socket.get(), lane, session, dialled->sealer.get());
}

}  // namespace keibi::net
