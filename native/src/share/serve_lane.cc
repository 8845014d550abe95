// SPDX-License-Identifier: MPL-2.0
#include "share/serve_lane.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace keibi::share {

using core::Code;
using core::Status;
using manifest::LaneFrame;
using manifest::Segment;

namespace {

// Small pending reads leave together in one frame of about this size.
constexpr size_t kPackBytes = size_t{256} << 10;
// No more requests are taken until these have left: one frame of requests can cause a few thousand refusals at most.
constexpr size_t kMostRefusals = size_t{64} << 10;

}  // namespace

ServeLane::ServeLane(core::Fd socket, std::unique_ptr<frame::Sealer> sealer, std::unique_ptr<frame::Opener> opener,
                     const ServedFolder& folder, WriteHandles* written, net::RateLimiter* limiter)
    : socket_(std::move(socket)),
      sealer_(std::move(sealer)),
      opener_(std::move(opener)),
      limiter_(limiter),
      written_(written),
      files_(folder),
      asks_(frame::kOverheadBytes + kMaxReadRequestBytes) {}

Status ServeLane::Run() {
  while (!stopped_.load()) {
    while (!HasWork() || (MayTakeMore() && HasAsks())) {
      if (const Status status = Receive(!HasWork()); !status.ok()) return status;
    }
    if (const Status status = Serve(); !status.ok()) return status;
  }
  return Status::Of(Code::kCancelled);
}

void ServeLane::Shutdown() {
  stopped_.store(true);
  shutdown(socket_.get(), SHUT_RDWR);
}

bool ServeLane::HasWork() const {
  return !wanted_.empty() || !ahead_.empty() || !refusals_.empty() || !outcomes_.empty();
}

bool ServeLane::MayTakeMore() const {
  return refusals_.size() < kMostRefusals && outcomes_.size() < kMostRefusals && unanswered_ < kPackBytes;
}

bool ServeLane::HasAsks() const {
  pollfd asking{socket_.get(), POLLIN, 0};
  return !stopped_.load() && poll(&asking, 1, 0) == 1;
}

// Receives one frame; without `wait` only the part that has arrived. While there is something to answer the lane never
// waits for the rest of a frame: the guest may have no room for it before it gets the answer.
Status ServeLane::Receive(bool wait) {
  while (true) {
    const bool is_head = got_ < frame::kHeaderBytes;
    uint8_t* const to = is_head ? head_ : frame_;
    const size_t missing = (is_head ? frame::kHeaderBytes : frame_bytes_) - got_;
    const ssize_t some = recv(socket_.get(), to + got_, missing, wait ? MSG_WAITALL : MSG_DONTWAIT);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0 && !wait && (errno == EAGAIN || errno == EWOULDBLOCK)) return Status::Ok();
    if (some < 0) return Status::FromErrno(Code::kSessionLost);
    if (some == 0) return Status::Of(Code::kSessionLost);
    got_ += static_cast<size_t>(some);
    if (static_cast<size_t>(some) < missing) continue;
    if (!is_head) return TakeFrame();
    if (const Status status = TakeHead(); !status.ok()) return status;
  }
}

Status ServeLane::TakeHead() {
  size_t body_bytes = 0;
  if (const Status status = frame::Opener::BodyBytes(head_, &body_bytes); !status.ok()) return status;
  frame_bytes_ = frame::kLengthBytes + body_bytes;
  const bool is_large = frame_bytes_ > asks_.size();
  if (is_large && written_ == nullptr) return Status::Of(Code::kFrameTooLarge);
  if (is_large && !writes_) writes_.emplace();
  frame_ = is_large ? writes_->frame() : asks_.data();
  std::memcpy(frame_, head_, sizeof head_);
  return Status::Ok();
}

Status ServeLane::TakeFrame() {
  got_ = 0;
  size_t plaintext_bytes = 0;
  if (const Status status = opener_->Open(frame_, frame_bytes_, &plaintext_bytes); !status.ok()) return status;
  const uint8_t* const at = frame_ + frame::kHeaderBytes;
  const uint8_t* const end = at + plaintext_bytes;
  if (at == end) return Status::Of(Code::kHandshakeMalformed);
  if (*at == static_cast<uint8_t>(LaneFrame::kWrite)) return TakeWrite(at + 1, plaintext_bytes - 1);
  if (*at != static_cast<uint8_t>(LaneFrame::kAsks) || frame_ != asks_.data()) {
    return Status::Of(Code::kHandshakeMalformed);
  }
  return TakeAsks(at + 1, end);
}

Status ServeLane::TakeAsks(const uint8_t* at, const uint8_t* end) {
  for (ReadRequest ask; at != end;) {
    if (!ReadRequest::Take(&at, end, &ask)) return Status::Of(Code::kHandshakeMalformed);
    if (const Status status = TakeReadRequest(ask); !status.ok()) return status;
  }
  return Status::Ok();
}

Status ServeLane::TakeWrite(const uint8_t* from, size_t bytes) {
  Write write;
  if (written_ == nullptr || !Write::Take(from, bytes, &write)) return Status::Of(Code::kHandshakeMalformed);
  const size_t length = bytes - Write::kHeaderBytes;
  const Status status = written_->Write(write.handle, write.offset, from + Write::kHeaderBytes, length);
  Written{write.handle, write.offset, OutcomeOf(status)}.Append(&outcomes_);
  unanswered_ += length;
  return Status::Ok();
}

Status ServeLane::TakeReadRequest(const ReadRequest& ask) {
  const Status malformed = Status::Of(Code::kHandshakeMalformed);
  switch (ask.kind) {
    case ReadRequest::Kind::kName:
      return files_.Name(ask) ? Status::Ok() : malformed;
    case ReadRequest::Kind::kRead:
      if (!files_.Knows(ask.file) || ask.length == 0 || ask.length > kMaxReadBytes) return malformed;
      if (wanted_.size() + ahead_.size() >= kMaxPendingReads) return malformed;
      (ask.ahead ? ahead_ : wanted_).push_back({ask.file, ask.offset, ask.length});
      return Status::Ok();
    case ReadRequest::Kind::kForget:
      if (!files_.Knows(ask.file)) return malformed;
      Drop(ask.file, &wanted_);
      Drop(ask.file, &ahead_);
      files_.Forget(ask.file);
      return Status::Ok();
  }
  return malformed;
}

void ServeLane::Drop(uint32_t file, std::deque<Read>* reads) {
  std::erase_if(*reads, [&](const Read& read) {
    if (read.file != file) return false;
    Refusal{file, read.offset, Refusal::Reason::kForgotten}.Append(&refusals_);
    return true;
  });
}

// Sends one frame of bytes, for the oldest read and small ones after it; then the outcomes and refusals.
Status ServeLane::Serve() {
  size_t at = 1;
  while (true) {
    std::deque<Read>* const reads = wanted_.empty() ? &ahead_ : &wanted_;
    if (reads->empty()) break;
    const Read read = reads->front();
    if (at > 1 && at + Segment::kHeaderBytes + read.length > kPackBytes) break;
    reads->pop_front();
    uint8_t* const header = buffer_.plaintext() + at;
    const Status status = files_.Read(read.file, read.offset, read.length, header + Segment::kHeaderBytes);
    if (status.code == Code::kHandshakeMalformed) return status;
    if (!status.ok()) {
      Refusal{read.file, read.offset, ReasonOf(status)}.Append(&refusals_);
      if (refusals_.size() >= kMostRefusals) break;
      continue;
    }
    Segment{read.file, 0, read.offset, read.length}.WriteHeader(header);
    at += Segment::kHeaderBytes + read.length;
    bytes_ += read.length;
  }
  if (at > 1) {
    if (const Status status = SendFrame(LaneFrame::kSegments, at); !status.ok()) return status;
  }
  unanswered_ = 0;
  if (const Status status = SendRecords(LaneFrame::kWritten, &outcomes_); !status.ok()) return status;
  return SendRecords(LaneFrame::kRefusals, &refusals_);
}

Status ServeLane::SendRecords(LaneFrame kind, std::vector<uint8_t>* records) {
  if (records->empty()) return Status::Ok();
  std::memcpy(buffer_.plaintext() + 1, records->data(), records->size());
  const size_t bytes = records->size();
  records->clear();
  return SendFrame(kind, 1 + bytes);
}

Status ServeLane::SendFrame(LaneFrame kind, size_t plaintext_bytes) {
  buffer_.plaintext()[0] = static_cast<uint8_t>(kind);
  const size_t bytes = sealer_->Seal(buffer_.frame(), plaintext_bytes);
  if (bytes == 0) return Status::Of(Code::kInternal);
  return net::SendAll(socket_.get(), buffer_.frame(), bytes, limiter_);
}

}  // namespace keibi::share
