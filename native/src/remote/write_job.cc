// SPDX-License-Identifier: MPL-2.0
#include "remote/write_job.h"

#include <algorithm>

#include "core/limits.h"
#include "disk/byte_range.h"

namespace keibi::remote {

using core::Code;
using core::Status;

namespace {

// While this many bytes are unacknowledged, on all lanes together, nothing more is sent.
constexpr uint64_t kMostWriteBytes = uint64_t{64} << 20;
constexpr size_t kMostPieces = 4096;

}  // namespace

WriteJob::WriteJob(std::shared_ptr<net::RateBudget> budget, core::Wake wake)
    : limiter_(std::move(budget)), wake_(std::move(wake)) {}

WriteJob::~WriteJob() { Stop(); }

Status WriteJob::AddLane(const net::LanePlace& place, uint32_t number, const net::ExpectedLanes& session) {
  const auto make = [&](net::DialledLane dialled) {
    dialled.sealer->Follow(ready_rekeys_);
    return std::make_unique<WriteLane>(number, std::move(dialled), static_cast<PieceSource*>(this), &limiter_);
  };
  return lanes_.Add(place, number, session, make, [this](Lane* lane) { RunLane(lane); });
}

void WriteJob::RunLane(Lane* lane) {
  std::thread sending([lane] { lane->lane->Send(); });
  const Status status = lane->lane->Receive();
  lane->lane->Shutdown();
  EndLane(lane, status);
  sending.join();
  const std::scoped_lock lock(mutex_);
  lane->finished = true;
}

// Another lane resends its unacknowledged pieces.
void WriteJob::EndLane(Lane* lane, Status status) {
  const std::scoped_lock lock(mutex_);
  lanes_.Ended(lane);
  const uint32_t number = lane->lane->number();
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    const auto next = std::next(at);
    if (at->second.lane == number) {
      const auto& [put, length, _] = at->second;
      if (puts_.at(put).IsGoing()) again_.emplace_back(put, disk::ByteRange{at->first.second, length});
      ArrivedLocked(at, Status::Ok());
    }
    at = next;
  }
  news_.lanes_ended.push_back({number, lane->lane->frames(), status});
  work_.notify_all();
  wake_();
}

void WriteJob::EndSession() {
  GuestLanes<WriteLane>::Lanes ended;
  {
    const std::scoped_lock lock(mutex_);
    ended = lanes_.EndSession();
    ready_rekeys_ = std::make_shared<frame::RekeySecrets>();
    for (auto& [number, put] : puts_) {
      if (put.IsGoing()) put.failed = Status::Of(Code::kSessionLost);
    }
    work_.notify_all();
  }
  lanes_.Join(ended);
  const std::scoped_lock lock(mutex_);
  under_way_.clear();
  bytes_under_way_ = 0;
  again_.clear();
  turns_.clear();
  std::vector<uint32_t> numbers;
  for (auto& [number, put] : puts_) {
    put.under_way = 0;
    numbers.push_back(number);
  }
  for (const uint32_t number : numbers) SettleLocked(number);
}

uint32_t WriteJob::session() const {
  const std::scoped_lock lock(mutex_);
  return lanes_.session();
}

void WriteJob::Rekey(uint32_t number, frame::Key secret) {
  const std::scoped_lock lock(mutex_);
  lanes_.rekeys().Add(number, std::move(secret));
}

void WriteJob::RekeyReady(uint32_t number) {
  const std::scoped_lock lock(mutex_);
  frame::Key secret;
  if (lanes_.rekeys().Get(number, &secret)) ready_rekeys_->Add(number, std::move(secret));
}

void WriteJob::CutSilent(std::chrono::milliseconds patience) {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  for (const auto& each : lanes_.live()) {
    if (each->lane->under_way() == 0 || now - each->heard <= patience) continue;
    // A long piece on a slow path: the other side's system has acknowledged some of it recently.
    const platform::PathState path = each->lane->path();
    if (path.waits && std::chrono::milliseconds(path.silent_ms) <= patience) continue;
    each->lane->Shutdown();
  }
}

std::vector<net::LaneState> WriteJob::lanes() const {
  const std::scoped_lock lock(mutex_);
  return lanes_.states();
}

Status WriteJob::Begin(uint32_t number, uint32_t session, uint32_t handle, const std::string& directory,
                       const std::string& key, std::vector<disk::ByteRange> ranges) {
  const auto overlay = std::make_shared<DirtyFile>();
  if (ranges.empty() || !disk::AreInOrder(ranges, core::kMaxFileBytes)) return Status::Of(Code::kSizeMismatch);
  if (const Status status = overlay->Open(directory, key); !status.ok()) {
    return Status::Of(Code::kDestinationUnusable, status.system_error);
  }
  const std::scoped_lock lock(mutex_);
  if (stopped_ || session != lanes_.session()) return Status::Of(Code::kSessionLost);
  const auto [at, is_new] = puts_.try_emplace(number);
  if (!is_new) return Status::Of(Code::kInternal);
  at->second.handle = handle;
  at->second.overlay = overlay;
  at->second.ranges = std::move(ranges);
  turns_.push_back(number);
  work_.notify_all();
  return Status::Ok();
}

void WriteJob::Cancel(uint32_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = puts_.find(number);
  if (found == puts_.end()) return;
  found->second.cancelled = true;
  SettleLocked(number);
}

uint64_t WriteJob::bytes() const {
  const std::scoped_lock lock(mutex_);
  return lanes_.bytes();
}

WriteNews WriteJob::TakeNews() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

void WriteJob::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    limiter_.Stop();
  }
  EndSession();
}

bool WriteJob::Next(uint32_t number, Piece* piece) {
  std::unique_lock lock(mutex_);
  Lane* lane = nullptr;
  work_.wait(lock, [&] {
    lane = lanes_.Find(number);
    return lane == nullptr || HasPieceLocked();
  });
  if (lane == nullptr) return false;
  uint32_t put = 0;
  *piece = TakePieceLocked(&put);
  under_way_[{piece->handle, piece->offset}] = {put, piece->length, number};
  puts_.at(put).under_way++;
  bytes_under_way_ += piece->length;
  // The lane's silence counts from the first pending piece.
  if (lane->lane->under_way() == 0) lane->heard = Clock::now();
  lane->lane->Owes(piece->length);
  return true;
}

// SettleLocked removes ended puts from both lists.
bool WriteJob::HasPieceLocked() const {
  return bytes_under_way_ < kMostWriteBytes && under_way_.size() < kMostPieces && (!again_.empty() || !turns_.empty());
}

Piece WriteJob::TakePieceLocked(uint32_t* number) {
  if (!again_.empty()) {
    const auto [put, range] = again_.front();
    again_.pop_front();
    *number = put;
    const Put& of = puts_.at(put);
    return {of.handle, range.offset, static_cast<uint32_t>(range.length), of.overlay};
  }
  *number = turns_.front();
  turns_.pop_front();
  Put& put = puts_.at(*number);
  const disk::ByteRange& range = put.ranges[put.range];
  const auto length = static_cast<uint32_t>(std::min<uint64_t>(share::Write::kMaxBytes, range.length - put.begun));
  const Piece piece{put.handle, range.offset + put.begun, length, put.overlay};
  put.begun += length;
  if (put.begun == range.length) {
    put.range++;
    put.begun = 0;
  }
  if (put.range < put.ranges.size()) turns_.push_back(*number);
  return piece;
}

void WriteJob::OnUnreadable(uint32_t lane, const Piece& piece, Status status) {
  const std::scoped_lock lock(mutex_);
  const auto at = under_way_.find({piece.handle, piece.offset});
  if (at != under_way_.end() && at->second.lane == lane) ArrivedLocked(at, status);
}

Status WriteJob::OnWritten(uint32_t number, const share::Written& written) {
  const std::scoped_lock lock(mutex_);
  const auto at = under_way_.find({written.handle, written.offset});
  if (at == under_way_.end() || at->second.lane != number) return Status::Of(Code::kHandshakeMalformed);
  if (Lane* const lane = lanes_.Find(number); lane != nullptr) lane->heard = Clock::now();
  ArrivedLocked(at, share::StatusOf(written.outcome));
  return Status::Ok();
}

// Removes a piece from the pending ones.
void WriteJob::ArrivedLocked(std::map<Place, UnderWay>::iterator at, Status status) {
  const auto [number, length, of_lane] = at->second;
  under_way_.erase(at);
  bytes_under_way_ -= length;
  if (Lane* const lane = lanes_.Find(of_lane); lane != nullptr) lane->lane->Answered(length);
  Put& put = puts_.at(number);
  put.under_way--;
  if (!status.ok() && put.IsGoing()) put.failed = status;
  SettleLocked(number);
  work_.notify_all();
}

// Reports a put without pending pieces, if none will follow.
void WriteJob::SettleLocked(uint32_t number) {
  const auto found = puts_.find(number);
  const Put& put = found->second;
  if (!put.IsGoing()) {
    std::erase(turns_, number);
    std::erase_if(again_, [&](const auto& piece) { return piece.first == number; });
  }
  const bool waits =
      std::any_of(again_.begin(), again_.end(), [&](const auto& piece) { return piece.first == number; });
  if (put.under_way > 0 || waits || (put.IsGoing() && put.range < put.ranges.size())) return;
  if (!put.cancelled) {
    news_.settled.push_back({number, put.failed});
    wake_();
  }
  puts_.erase(found);
}

}  // namespace keibi::remote
