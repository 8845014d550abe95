// SPDX-License-Identifier: MPL-2.0
#include "stream/receive_lanes.h"

#include <array>
#include <chrono>
#include <utility>

#include "core/bytes.h"

namespace keibi::stream {

using core::Code;
using core::Status;

namespace {

constexpr std::chrono::seconds kDialTimeout{10};
constexpr std::chrono::seconds kRelayTimeout{30};  // the sender has to hear of the lane first, and then to dial
constexpr std::array<uint8_t, 8> kLanePreamble = {'K', 'E', 'I', 'B', 'I', '-', 'L', '1'};

Status SayHello(int fd, uint32_t lane, const ExpectedLanes& session) {
  std::vector<uint8_t> hello(kLanePreamble.begin(), kLanePreamble.end());
  hello.insert(hello.end(), session.session_id.begin(), session.session_id.end());
  hello.resize(hello.size() + sizeof lane + frame::kOverheadBytes + 1);
  uint8_t* const sealed = hello.data() + hello.size() - frame::kOverheadBytes - 1;
  core::StoreBigEndian<uint32_t>(sealed - sizeof lane, lane);
  sealed[frame::kHeaderBytes] = static_cast<uint8_t>(LaneFrame::kHello);
  frame::Sealer sealer(session.suite, frame::LaneKey(session.lane_secret, session.suite, session.self, lane));
  if (sealer.Seal(sealed, 1) == 0) return Status::Of(Code::kInternal);
  RateLimiter unlimited(nullptr);
  return SendAll(fd, hello.data(), hello.size(), &unlimited);
}

}  // namespace

Status ReceiveLanes::Add(const std::string& host, uint16_t port, uint32_t lane, const ExpectedLanes& session,
                         const std::optional<relay::Token>& token, std::optional<uint16_t> from_port) {
  using frame::Role;
  core::Fd socket;
  const Status dialled = from_port ? DialThrough(*from_port, host, port, kDialTimeout, stopped_, &socket)
                                   : Dial(host, port, kDialTimeout, stopped_, &socket);
  if (!dialled.ok()) return dialled;
  if (token) {
    const Status status = JoinRelay(socket.get(), *token, kRelayTimeout, stopped_);
    if (!status.ok()) return status;
  }
  if (const Status status = SayHello(socket.get(), lane, session); !status.ok()) return status;
  const Role other = session.self == Role::kInitiator ? Role::kResponder : Role::kInitiator;
  frame::Opener opener(session.suite, frame::LaneKey(session.lane_secret, session.suite, other, lane));
  opener.Follow(folds_);

  const std::scoped_lock lock(mutex_);
  if (stopped_) return Status::Of(Code::kCancelled);
  ReapLocked();
  auto added = std::make_unique<Lane>();
  Lane* const running = added.get();
  running->number = lane;
  running->lane = std::make_unique<ReceiveLane>(std::move(socket), std::move(opener), sink_, limiter_);
  running->thread = std::thread([this, running] {
    const Status status = running->lane->Run();
    running->lane->Shutdown();  // the other side, and a relay between, are to know at once
    {
      const std::scoped_lock ending(mutex_);
      running->ended = true;
    }
    on_end_({running->number, running->lane->frames(), status});
  });
  lanes_.push_back(std::move(added));
  return Status::Ok();
}

// Frees those that have ended, so that a lane that is replaced again and again costs no memory. With mutex_ held; the
// thread of one that has ended takes no lock of ours any more.
void ReceiveLanes::ReapLocked() {
  std::erase_if(lanes_, [](const std::unique_ptr<Lane>& lane) {
    if (lane->ended) lane->thread.join();
    return lane->ended;
  });
}

void ReceiveLanes::Cut(uint32_t lane) {
  const std::scoped_lock lock(mutex_);
  for (const auto& each : lanes_) {
    if (each->number == lane) each->lane->Shutdown();
  }
}

std::vector<LaneState> ReceiveLanes::states() const {
  const std::scoped_lock lock(mutex_);
  std::vector<LaneState> states;
  for (const auto& each : lanes_) {
    if (!each->ended) states.push_back({each->number, each->lane->bytes(), each->lane->frames(), each->lane->path()});
  }
  return states;
}

void ReceiveLanes::Shutdown() {
  const std::scoped_lock lock(mutex_);
  for (const auto& each : lanes_) each->lane->Shutdown();
}

void ReceiveLanes::Join() {
  std::vector<std::unique_ptr<Lane>> lanes;
  {
    const std::scoped_lock lock(mutex_);
    lanes.swap(lanes_);
  }
  for (const auto& each : lanes) each->thread.join();
}

}  // namespace keibi::stream
