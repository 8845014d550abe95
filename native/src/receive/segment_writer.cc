// SPDX-License-Identifier: MPL-2.0
#include "receive/segment_writer.h"

#include <algorithm>
#include <string>
#include <thread>

#include "core/fd.h"
#include "core/limits.h"
#include "platform/file_time.h"
#include "platform/write_at.h"

namespace keibi::receive {

using core::Code;
using core::Status;
using manifest::Entry;
using manifest::Segment;

namespace {

// A few files that fill a frame are written at once, while their bytes are in this core's cache: creating and placing
// them costs little beside the copy. More files go to the pool.
constexpr size_t kMostInline = 8;

size_t PoolThreads() { return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 4); }

}  // namespace

void SegmentWriter::StartPool() {
  pool_ = std::make_unique<WriterPool>(
      PoolThreads(), [this](const uint8_t* plaintext, size_t bytes) { (void)WriteAll(plaintext, bytes); });
}

void SegmentWriter::StopPool() {
  if (pool_) pool_->Stop();
}

// A job lives until JavaScript collects its wrapper, and the collector does not see the pool's megabytes.
void SegmentWriter::Close() {
  streams_.Close();
  pool_.reset();
}

// On a lane's thread. Everything is checked before anything is written.
Status SegmentWriter::OnSegments(std::unique_ptr<net::LaneBuffer>* buffer, size_t plaintext_bytes) {
  const uint8_t* at = (*buffer)->plaintext() + 1;
  const uint8_t* const end = (*buffer)->plaintext() + plaintext_bytes;
  if (at == end) return Status::Of(Code::kHandshakeMalformed);
  bool small = true;
  size_t segments = 0;
  while (at < end) {
    Segment segment;
    Entry entry;
    if (!Segment::Take(&at, end, &segment)) return Status::Of(Code::kHandshakeMalformed);
    if (const Status status = Check(segment, &entry); !status.ok()) return status;
    small = small && entry.type == manifest::EntryType::kFile && entry.size <= core::kChunkBytes;
    segments++;
  }
  if (small && segments > kMostInline && pool_)
    return pool_->Exchange(buffer, plaintext_bytes) ? Status::Ok() : Status::Of(Code::kCancelled);
  return WriteAll((*buffer)->plaintext(), plaintext_bytes);
}

// Checks a segment against PROTOCOL 5.2, and that we requested its entry.
Status SegmentWriter::Check(const Segment& segment, Entry* entry) const {
  if (!table_.Find(segment.entry, entry) || !entry->IsFile()) return Status::Of(Code::kHandshakeMalformed);
  if (ledger_->StateOf(segment.entry) == ReceiveLedger::State::kNone) return Status::Of(Code::kHandshakeMalformed);
  if (entry->type == manifest::EntryType::kStream) {
    if ((segment.flags & ~manifest::kEndOfStream) != 0) return Status::Of(Code::kHandshakeMalformed);
    const bool fits = segment.length <= core::kChunkBytes && segment.offset <= core::kMaxFileBytes - segment.length;
    return fits ? Status::Ok() : Status::Of(Code::kLimitExceeded);
  }
  if ((segment.flags & ~(entry->sparse ? manifest::kHole : 0)) != 0) return Status::Of(Code::kHandshakeMalformed);
  if (segment.offset >= entry->size || segment.offset % core::kChunkBytes != 0) return Status::Of(Code::kSizeMismatch);
  if (segment.IsHole()) {
    const bool fits = segment.length >= 1 && segment.length <= core::kMaxHoleChunks &&
                      segment.length <= manifest::ChunksOf(entry->size - segment.offset);
    return fits ? Status::Ok() : Status::Of(Code::kSizeMismatch);
  }
  const uint64_t expected = std::min<uint64_t>(core::kChunkBytes, entry->size - segment.offset);
  return segment.length == expected ? Status::Ok() : Status::Of(Code::kSizeMismatch);
}

// On a lane's or the pool's thread.
Status SegmentWriter::WriteAll(const uint8_t* plaintext, size_t bytes) {
  const uint8_t* at = plaintext + 1;
  const uint8_t* const end = plaintext + bytes;
  Segment segment;
  while (at < end && Segment::Take(&at, end, &segment)) {
    Entry entry;
    table_.Find(segment.entry, &entry);
    const ReceiveLedger::State state = ledger_->StateOf(segment.entry);
    if (state == ReceiveLedger::State::kDiscarded)
      ledger_->AddDiscarded(segment.entry, segment.FileBytes(entry.size), entry.size);
    if (state != ReceiveLedger::State::kWanted) continue;  // settled meanwhile, or sent twice
    if (const Status status = WriteOne(segment, entry); !status.ok()) return status;
  }
  return Status::Ok();
}

Status SegmentWriter::WriteOne(const Segment& segment, const Entry& entry) {
  latest_.store(segment.entry, std::memory_order_relaxed);
  if (pipe_ != nullptr) return pipe_->Append(segment, entry);
  if (entry.type == manifest::EntryType::kStream) return streams_.Append(segment, entry);
  if (entry.size > core::kChunkBytes) return segment.IsHole() ? WriteHole(segment, entry) : WriteChunk(segment, entry);
  WriteSmall(segment, entry);
  return Status::Ok();
}

void SegmentWriter::WriteSmall(const Segment& segment, const Entry& entry) {
  if (!ledger_->Claim(segment.entry)) return;
  const std::string staged = Staging::SmallFileName(segment.entry);
  core::Fd fd;
  Status status = staging_.Create(staged, entry.mode, &fd);
  if (status.ok()) status = platform::WriteAt(fd.get(), segment.data, segment.length, 0);
  if (status.ok()) status = platform::SetMtime(fd.get(), entry.mtime_ns);
  fd.Close();
  if (status.ok()) return placer_->Add({segment.entry, staged, nullptr, entry.size, entry.size});
  staging_.Remove(staged);
  ledger_->Fail(segment.entry, status);
}

Status SegmentWriter::WriteChunk(const Segment& segment, const Entry& entry) {
  std::shared_ptr<PartFile> part;
  if (const Status status = parts_->Take(segment.entry, entry, &part); !status.ok()) return status;
  if (!part) return Status::Ok();
  PartFile::Written written;
  const auto chunk = static_cast<uint32_t>(segment.offset / core::kChunkBytes);
  const Status status = part->Write(chunk, segment.data, segment.length, &written);
  if (written != PartFile::Written::kIgnored) ledger_->AddBytes(segment.length);
  if (written == PartFile::Written::kLast) placer_->Add({segment.entry, part->DataName(), part, entry.size, 0});
  if (!status.ok()) ledger_->Fail(segment.entry, status);
  return Status::Ok();
}

Status SegmentWriter::WriteHole(const Segment& segment, const Entry& entry) {
  std::shared_ptr<PartFile> part;
  if (const Status status = parts_->Take(segment.entry, entry, &part); !status.ok()) return status;
  if (!part) return Status::Ok();
  PartFile::Written written;
  uint64_t new_bytes;
  const auto chunk = static_cast<uint32_t>(segment.offset / core::kChunkBytes);
  const Status status = part->LeaveHole(chunk, segment.length, &new_bytes, &written);
  ledger_->AddBytes(new_bytes);
  if (written == PartFile::Written::kLast) placer_->Add({segment.entry, part->DataName(), part, entry.size, 0});
  if (!status.ok()) ledger_->Fail(segment.entry, status);
  return Status::Ok();
}

}  // namespace keibi::receive
