// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_lanes.h"

#include <utility>

#include "net/lane_dial.h"

namespace keibi::receive {

using core::Code;
using core::Status;

Status ReceiveLanes::Add(const std::string& host, uint16_t port, uint32_t lane, const net::ExpectedLanes& session,
                         const std::optional<relay::Token>& token, std::optional<uint16_t> from_port) {
  net::DialledLane dialled;
  const Status status = net::DialLane({host, port, token, from_port}, lane, session, rekeys_, stopped_, &dialled);
  if (!status.ok()) return status;

  const std::scoped_lock lock(mutex_);
  if (stopped_) return Status::Of(Code::kCancelled);
  ReapLocked();
  auto added = std::make_unique<Lane>();
  Lane* const running = added.get();
  running->number = lane;
  running->lane = std::make_unique<ReceiveLane>(std::move(dialled.socket), std::move(*dialled.opener), sink_, limiter_);
  running->thread = std::thread([this, running] {
    const Status status = running->lane->Run();
    running->lane->Shutdown();  // so that the other side, and a relay in between, notice at once
    {
      const std::scoped_lock ending(mutex_);
      running->ended = true;
    }
    on_end_({running->number, running->lane->frames(), status});
  });
  lanes_.push_back(std::move(added));
  return Status::Ok();
}

// Frees ended lanes, so that a lane that is replaced again and again costs no memory. With mutex_ held; the thread of
// an ended lane takes no lock of ours any more.
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

std::vector<net::LaneState> ReceiveLanes::states() const {
  const std::scoped_lock lock(mutex_);
  std::vector<net::LaneState> states;
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

}  // namespace keibi::receive
