// SPDX-License-Identifier: MPL-2.0
#include "remote/read_lane.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "manifest/segment.h"
#include "net/socket.h"

namespace keibi::remote {

using core::Code;
using core::Status;
using manifest::LaneFrame;
using share::ReadRequest;

namespace {

// Far below the other side's limit, so that reads with a waiting reader find room.
constexpr size_t kMostReads = share::kMaxPendingReads / 4;
// Short enough for an empty socket to take it whole: half a frame on an idle lane would never be answered.
constexpr size_t kFullFrame = 4096;

}  // namespace

Status ReadLane::Run() {
  while (true) {
    size_t bytes = 0;
    if (const Status status = ReceiveFrame(&bytes); !status.ok()) return status;
    if (const Status status = TakeAnswers(bytes); !status.ok()) return status;
    frames_++;
    sink_->OnFrameEnd(number_);
  }
}

Status ReadLane::ReceiveFrame(size_t* plaintext_bytes) {
  uint8_t* const frame = buffer_.frame();
  const int socket = dialled_.socket.get();
  size_t got = 0, body_bytes = 0;
  Status status = net::ReceiveAll(socket, frame, frame::kHeaderBytes, limiter_, &got);
  if (status.ok()) status = frame::Opener::BodyBytes(frame, &body_bytes);
  if (!status.ok()) return status;
  status = net::ReceiveAll(socket, frame + frame::kHeaderBytes, body_bytes - aead::kNonceBytes, limiter_, &got);
  if (!status.ok()) return status;
  bytes_ += frame::kLengthBytes + body_bytes;
  return dialled_.opener->Open(frame, frame::kLengthBytes + body_bytes, plaintext_bytes);
}

Status ReadLane::TakeAnswers(size_t plaintext_bytes) {
  const Status malformed = Status::Of(Code::kHandshakeMalformed);
  const uint8_t* at = buffer_.plaintext();
  const uint8_t* const end = at + plaintext_bytes;
  if (plaintext_bytes < 2) return malformed;
  const auto kind = static_cast<LaneFrame>(*at++);
  if (kind != LaneFrame::kSegments && kind != LaneFrame::kRefusals) return malformed;
  while (at != end) {
    Status status;
    if (kind == LaneFrame::kSegments) {
      manifest::Segment segment;
      if (!manifest::Segment::Take(&at, end, &segment) || segment.flags != 0) return malformed;
      status = sink_->OnBytes(number_, segment.entry, segment.offset, segment.data, segment.length);
    } else {
      share::Refusal refusal;
      if (!share::Refusal::Take(&at, end, &refusal)) return malformed;
      status = sink_->OnRefusal(number_, refusal);
    }
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

void ReadLane::Shutdown() { shutdown(dialled_.socket.get(), SHUT_RDWR); }

bool ReadLane::HasRoomFor(uint32_t file, const std::string& path) const {
  if (reads_ >= kMostReads) return false;
  if (Names(file) || FitsName(path)) return true;
  // Files without pending reads can be named again later.
  return std::any_of(named_.begin(), named_.end(), [](const auto& each) { return each.second.reads == 0; });
}

bool ReadLane::FitsName(const std::string& path) const {
  return named_.size() < share::kMaxNamedFiles &&
         named_bytes_ + path.size() <= share::kMaxNamedBytes - share::kMaxSharePathBytes;
}

void ReadLane::MakeRoomFor(const std::string& path) {
  std::vector<uint32_t> idle;
  for (const auto& [file, named] : named_) {
    if (named.reads == 0) idle.push_back(file);
  }
  for (size_t i = 0; i < idle.size() && !FitsName(path); i++) Forget(idle[i]);
}

void ReadLane::Ask(uint32_t file, const std::string& path, const CacheIdentity& identity, uint64_t offset,
                   uint32_t length, bool ahead) {
  using Kind = ReadRequest::Kind;
  if (!Names(file)) {
    if (!FitsName(path)) MakeRoomFor(path);
    named_[file].path_bytes = path.size();
    named_bytes_ += path.size();
    ReadRequest{.kind = Kind::kName, .file = file, .size = identity.size, .mtime_ns = identity.mtime_ns, .path = path}
        .Append(&asks_);
  }
  ReadRequest{.kind = Kind::kRead, .file = file, .ahead = ahead, .offset = offset, .length = length}.Append(&asks_);
  named_[file].reads++;
  under_way_ += length;
  reads_++;
  if (asks_.size() > kFullFrame) Flush();
}

void ReadLane::Answered(uint32_t file, uint32_t length) {
  if (const auto found = named_.find(file); found != named_.end()) found->second.reads--;
  under_way_ -= length;
  reads_--;
}

void ReadLane::Forget(uint32_t file) {
  const auto found = named_.find(file);
  if (found == named_.end()) return;
  named_bytes_ -= found->second.path_bytes;
  named_.erase(found);
  ReadRequest{.kind = ReadRequest::Kind::kForget, .file = file}.Append(&asks_);
  if (asks_.size() > kFullFrame) Flush();
}

// The rest waits for the next answer: one must be pending, or the socket would not be full.
void ReadLane::Flush() {
  if (!asks_.empty()) {
    const size_t at = backlog_.size();
    backlog_.resize(at + frame::kOverheadBytes + 1 + asks_.size());
    uint8_t* const plaintext = backlog_.data() + at + frame::kHeaderBytes;
    plaintext[0] = static_cast<uint8_t>(LaneFrame::kAsks);
    std::copy(asks_.begin(), asks_.end(), plaintext + 1);
    if (dialled_.sealer->Seal(backlog_.data() + at, 1 + asks_.size()) == 0) Shutdown();
    asks_.clear();
  }
  while (backlog_at_ < backlog_.size()) {
    const ssize_t sent = send(dialled_.socket.get(), backlog_.data() + backlog_at_, backlog_.size() - backlog_at_,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent <= 0) break;  // the lane's thread detects the failure
    backlog_at_ += static_cast<size_t>(sent);
  }
  backlog_.clear();
  backlog_at_ = 0;
}

}  // namespace keibi::remote
