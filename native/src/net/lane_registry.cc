// SPDX-License-Identifier: MPL-2.0
#include "net/lane_registry.h"

#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "core/limits.h"

namespace keibi::net {
namespace {

constexpr size_t kLaneAt = 16;
constexpr size_t kFrameAt = kLaneAt + 4;
constexpr uint8_t kHelloKind = 0;  // PROTOCOL 5.2

frame::Role Other(frame::Role role) {
  return role == frame::Role::kInitiator ? frame::Role::kResponder : frame::Role::kInitiator;
}

SessionId SessionOf(const LaneHello& hello) {
  SessionId id;
  std::copy_n(hello.data(), id.size(), id.begin());
  return id;
}

uint32_t NumberOf(const LaneHello& hello) { return core::LoadBigEndian<uint32_t>(hello.data() + kLaneAt); }

bool OpensHello(frame::Opener* opener, LaneHello* hello) {
  size_t plaintext_bytes = 0;
  const core::Status status = opener->Open(hello->data() + kFrameAt, kLaneHelloBytes - kFrameAt, &plaintext_bytes);
  return status.ok() && plaintext_bytes == 1 && (*hello)[kFrameAt + frame::kHeaderBytes] == kHelloKind;
}

}  // namespace

// This may hold an acceptor's last reference, so each is released outside the lock.
void LaneRegistry::Expect(ExpectedLanes lanes, std::shared_ptr<LaneAcceptor> acceptor) {
  const SessionId id = lanes.session_id;
  Session session{std::move(lanes), std::move(acceptor)};
  const std::lock_guard lock(mutex_);
  if (!closed_) std::swap(sessions_[id], session);
}

void LaneRegistry::Forget(const SessionId& session_id) {
  std::map<SessionId, Session>::node_type forgotten;
  const std::lock_guard lock(mutex_);
  forgotten = sessions_.extract(session_id);
}

void LaneRegistry::Close() {
  std::map<SessionId, Session> forgotten;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  forgotten.swap(sessions_);
}

bool LaneRegistry::IsEarly(const LaneHello& hello) {
  if (NumberOf(hello) >= core::kMaxLaneNumbers) return false;
  const std::lock_guard lock(mutex_);
  return !sessions_.contains(SessionOf(hello));
}

std::optional<LaneRegistry::Admitted> LaneRegistry::Admit(LaneHello* hello) {
  const SessionId id = SessionOf(*hello);
  const uint32_t lane = NumberOf(*hello);
  if (lane >= core::kMaxLaneNumbers) return std::nullopt;

  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.taken.test(lane)) return std::nullopt;
  Session& session = found->second;
  const auto& [session_id, secret, suite, self] = session.lanes;
  auto opener = std::make_unique<frame::Opener>(suite, frame::LaneKey(secret, suite, Other(self), lane));
  if (!OpensHello(opener.get(), hello)) return std::nullopt;
  session.taken.set(lane);
  auto sealer = std::make_unique<frame::Sealer>(suite, frame::LaneKey(secret, suite, self, lane));
  return Admitted{session.acceptor, lane, std::move(sealer), std::move(opener)};
}

}  // namespace keibi::net
