// SPDX-License-Identifier: MPL-2.0
#include "send/send_lanes.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"

namespace keibi::send {

using core::Code;
using core::Status;

namespace {

// A path that acknowledges nothing for so long is given up while others live: the kernel itself would retry for 15
// minutes.
constexpr uint32_t kSilentMs = 10'000;
// The old lanes and the new ones while they move to another address.
constexpr size_t kMostLanes = size_t{2} * core::kMaxLanes;

}  // namespace

bool SendLanes::Add(uint32_t number, std::unique_ptr<SendLane> lane) {
  const std::scoped_lock lock(mutex_);
  ReapLocked();
  if (shut_ || closed_.contains(number) || lanes_.size() >= kMostLanes) return false;
  auto added = std::make_unique<Lane>();
  Lane* const running = added.get();
  running->number = number;
  running->lane = std::move(lane);
  running->thread = std::thread([this, running] { Run(running); });
  lanes_.push_back(std::move(added));
  return true;
}

void SendLanes::Run(Lane* lane) {
  Status status = lane->lane->Run();
  if (!status.ok()) lane->lane->Shutdown();  // so that the other side, and a relay in between, notice at once
  bool closed = false;
  {
    const std::scoped_lock lock(mutex_);
    lane->ended = true;
    closed = lane->closed;
    // The lane was cut while it waited for work.
    if (status.code == Code::kCancelled && !shut_) status = Status::Of(Code::kSessionLost);
  }
  events_.ended({lane->number, 0, closed ? Status::Ok() : status});
  if (closed) Settle(lane);
}

Status SendLanes::Acknowledge(uint32_t number, uint64_t frames) {
  const std::scoped_lock lock(mutex_);
  Lane* const lane = FindLocked(number);
  if (lane == nullptr || lane->lane->log().Acknowledge(frames)) return Status::Ok();
  return Status::Of(Code::kHandshakeMalformed);
}

void SendLanes::CutSilent() {
  const std::scoped_lock lock(mutex_);
  for (const auto& each : lanes_) {
    if (each->ended) continue;
    const platform::PathState path = each->lane->path();
    if (path.waits && path.silent_ms > kSilentMs) each->lane->Shutdown();
  }
}

Status SendLanes::Close(uint32_t number, uint64_t frames) {
  Lane* lane = nullptr;
  bool ended = false;
  {
    const std::scoped_lock lock(mutex_);
    if (shut_) return Status::Ok();
    if (number >= core::kMaxLaneNumbers || !closed_.insert(number).second) return Status::Of(Code::kHandshakeMalformed);
    lane = FindLocked(number);
    if (lane != nullptr) {
      if (!lane->lane->log().Acknowledge(frames)) return Status::Of(Code::kHandshakeMalformed);
      lane->closed = true;
      ended = lane->ended;
      lane->lane->Shutdown();
    }
  }
  if (lane == nullptr) events_.moved(number);
  if (ended) Settle(lane);  // otherwise its thread does
  return Status::Ok();
}

// The lane has ended and the receiver has closed it, so its log no longer grows.
void SendLanes::Settle(Lane* lane) {
  const uint32_t number = lane->number;
  std::deque<SendWork> rest = lane->lane->log().TakeRest();
  const auto of_stream = [](const SendWork& work) { return work.kind == SendWork::Kind::kStream; };
  const bool readable_again = !lane->lane->streaming() && std::none_of(rest.begin(), rest.end(), of_stream);
  if (readable_again) queue_->Again(std::move(rest));
  {
    const std::scoped_lock lock(mutex_);
    lane->settled = true;
  }
  // The lane may be freed by another thread from here on.
  if (readable_again) {
    events_.moved(number);
  } else {
    events_.stranded(number);
  }
}

void SendLanes::Retire(uint32_t number) {
  const std::scoped_lock lock(mutex_);
  if (Lane* const lane = FindLocked(number); lane != nullptr) lane->lane->Retire();
}

SendLanes::Lane* SendLanes::FindLocked(uint32_t number) {
  const auto found =
      std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return lane->number == number; });
  return found == lanes_.end() || (*found)->settled ? nullptr : found->get();
}

// With mutex_ held. A settled lane's thread may still run its last steps, which take no lock of ours.
void SendLanes::ReapLocked() {
  std::erase_if(lanes_, [](const std::unique_ptr<Lane>& lane) {
    if (lane->settled) lane->thread.join();
    return lane->settled;
  });
}

void SendLanes::Shutdown() {
  const std::scoped_lock lock(mutex_);
  shut_ = true;
  for (const auto& lane : lanes_) lane->lane->Shutdown();
}

void SendLanes::Join() {
  std::vector<std::unique_ptr<Lane>> lanes;
  {
    const std::scoped_lock lock(mutex_);
    lanes.swap(lanes_);
  }
  for (const auto& lane : lanes) lane->thread.join();
}

}  // namespace keibi::send
