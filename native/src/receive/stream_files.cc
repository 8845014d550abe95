// SPDX-License-Identifier: MPL-2.0
#include "receive/stream_files.h"

#include <string>

#include "platform/file_time.h"
#include "platform/write_at.h"

namespace keibi::receive {

using core::Code;
using core::Status;

namespace {

constexpr size_t kMostStreams = 16;  // an honest sender has one standard input

}  // namespace

// A stream travels on one lane, so that an honest peer never waits for this lock.
Status StreamFiles::Append(const manifest::Segment& segment, const manifest::Entry& entry) {
  const std::scoped_lock one_at_a_time(mutex_);
  if (ledger_->StateOf(segment.entry) != ReceiveLedger::State::kWanted) return Status::Ok();
  if (open_.size() >= kMostStreams && !open_.contains(segment.entry)) return Status::Of(Code::kLimitExceeded);
  const std::string staged = "s-" + std::to_string(segment.entry);
  OpenStream& stream = open_[segment.entry];
  if (segment.offset != stream.bytes) return Status::Of(Code::kSizeMismatch);
  Status status = stream.fd.valid() ? Status::Ok() : staging_.Create(staged, entry.mode, &stream.fd);
  if (status.ok()) status = platform::WriteAt(stream.fd.get(), segment.data, segment.length, segment.offset);
  stream.bytes += segment.length;
  if (status.ok()) ledger_->AddBytes(segment.length);
  const bool ended = segment.flags & manifest::kEndOfStream;
  if (status.ok() && !ended) return Status::Ok();
  if (status.ok()) status = platform::SetMtime(stream.fd.get(), entry.mtime_ns);
  const uint64_t bytes = stream.bytes;
  open_.erase(segment.entry);
  if (status.ok() && ledger_->Claim(segment.entry)) {
    placer_->Add({segment.entry, staged, nullptr, bytes, 0});
  } else {
    staging_.Remove(staged);
    ledger_->Fail(segment.entry, status);
  }
  return Status::Ok();
}

void StreamFiles::Close() {
  const std::scoped_lock lock(mutex_);
  open_.clear();
}

}  // namespace keibi::receive
