// SPDX-License-Identifier: MPL-2.0
#include "receive/pipe_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/limits.h"
#include "platform/write_at.h"

namespace keibi::receive {

using core::Code;
using core::Status;

namespace {

constexpr int kStopCheckMs = 100;
constexpr size_t kPipeBytes = 4096;  // fits at once into a pipe that is ready (POSIX PIPE_BUF on Linux)

}  // namespace

Status PipeOutput::Append(const manifest::Segment& segment, const manifest::Entry& entry) {
  if (segment.entry != entry_ && ledger_->StateOf(entry_) != ReceiveLedger::State::kWanted) {
    entry_ = segment.entry;
    offset_ = 0;
  }
  if (segment.entry != entry_ || segment.offset != offset_) return Status::Of(Code::kSizeMismatch);
  if (segment.IsHole()) {
    if (const Status status = WriteHole(segment.FileBytes(entry.size)); !status.ok()) return status;
  } else {
    if (const Status status = Write(segment.data, segment.length); !status.ok()) return status;
    ledger_->AddBytes(segment.length);
    offset_ += segment.length;
  }
  const bool ended =
      entry.type == manifest::EntryType::kStream ? segment.flags & manifest::kEndOfStream : offset_ == entry.size;
  if (ended) ledger_->Done(segment.entry, offset_, 0);
  return Status::Ok();
}

// Writes a hole's zeros chunk by chunk, so that progress advances.
Status PipeOutput::WriteHole(uint64_t bytes) {
  const std::vector<uint8_t> zeros(std::min<uint64_t>(bytes, core::kChunkBytes));
  for (uint64_t left = bytes; left > 0;) {
    const size_t now = std::min<uint64_t>(left, zeros.size());
    if (const Status status = Write(zeros.data(), now); !status.ok()) return status;
    ledger_->AddBytes(now);
    offset_ += now;
    left -= now;
  }
  return Status::Ok();
}

// Never blocks for long, so that a stalled reader cannot delay a stop.
Status PipeOutput::Write(const uint8_t* data, size_t bytes) const {
  while (bytes > 0) {
    if (stopped_.load()) return Status::Of(Code::kCancelled);
    pollfd output{fd_, POLLOUT, 0};
    if (poll(&output, 1, kStopCheckMs) != 1) continue;
    const ssize_t written = write(fd_, data, std::min(bytes, kPipeBytes));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return platform::WriteError(Code::kDestinationUnusable);
    data += written;
    bytes -= static_cast<size_t>(written);
  }
  return Status::Ok();
}

}  // namespace keibi::receive
