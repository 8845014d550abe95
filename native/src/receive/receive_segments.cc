// SPDX-License-Identifier: MPL-2.0
// The part of ReceiveJob that processes arriving segments: checks them, writes them, places whole files.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/limits.h"
#include "platform/file_time.h"
#include "platform/write_at.h"
#include "receive/receive_job.h"

namespace keibi::stream {

using core::Code;
using core::Status;

namespace {

constexpr int kReceiveStopCheckMs = 100;
constexpr size_t kPipeBytes = 4096;  // fits at once into a pipe that is ready (POSIX PIPE_BUF on Linux)
// An honest sender has at most one chunk on each lane, so few files begun at once, and one standard input.
constexpr size_t kMostParts = 1024;
constexpr uint64_t kMostBitmapBytes = uint64_t{64} << 20;  // for all parts; 17 files of kMaxSparseBytes need 34 MiB
constexpr size_t kMostStreams = 16;
// A few files that fill a frame are written at once, while their bytes are in this core's cache: creating and placing
// them costs little beside the copy. More files go to the pool.
constexpr size_t kMostInline = 8;

// The number of file bytes that a segment covers.
uint64_t BytesOf(const Segment& segment, const Entry& entry) {
  if (!segment.IsHole()) return segment.length;
  return std::min(uint64_t{segment.length} * core::kChunkBytes, entry.size - segment.offset);
}

}  // namespace

// On a lane's thread. Everything is checked before anything is written.
Status ReceiveJob::OnSegments(std::unique_ptr<LaneBuffer>* buffer, size_t plaintext_bytes) {
  const uint8_t* at = (*buffer)->plaintext() + 1;
  const uint8_t* const end = (*buffer)->plaintext() + plaintext_bytes;
  if (at == end) return Status::Of(Code::kHandshakeMalformed);
  bool small = true;
  size_t segments = 0;
  while (at < end) {
    Segment segment;
    Entry entry;
    if (!Segment::Take(&at, end, &segment)) return Status::Of(Code::kHandshakeMalformed);
    if (const Status status = CheckSegment(segment, &entry); !status.ok()) return status;
    small = small && entry.type == EntryType::kFile && entry.size <= core::kChunkBytes;
    segments++;
  }
  if (small && segments > kMostInline && pool_)
    return pool_->Exchange(buffer, plaintext_bytes) ? Status::Ok() : Status::Of(Code::kCancelled);
  return TakeSegments((*buffer)->plaintext(), plaintext_bytes);
}

// Checks a segment against PROTOCOL 5.2, and that we requested its entry.
Status ReceiveJob::CheckSegment(const Segment& segment, Entry* entry) const {
  if (!table_.Find(segment.entry, entry) || !entry->IsFile()) return Status::Of(Code::kHandshakeMalformed);
  if (StateOf(segment.entry) == State::kNone) return Status::Of(Code::kHandshakeMalformed);
  if (entry->type == EntryType::kStream) {
    if ((segment.flags & ~kEndOfStream) != 0) return Status::Of(Code::kHandshakeMalformed);
    const bool fits = segment.length <= core::kChunkBytes && segment.offset <= core::kMaxFileBytes - segment.length;
    return fits ? Status::Ok() : Status::Of(Code::kLimitExceeded);
  }
  if ((segment.flags & ~(entry->sparse ? kHole : 0)) != 0) return Status::Of(Code::kHandshakeMalformed);
  if (segment.offset >= entry->size || segment.offset % core::kChunkBytes != 0) return Status::Of(Code::kSizeMismatch);
  if (segment.IsHole()) {
    const bool fits = segment.length >= 1 && segment.length <= core::kMaxHoleChunks &&
                      segment.length <= ChunksOf(entry->size - segment.offset);
    return fits ? Status::Ok() : Status::Of(Code::kSizeMismatch);
  }
  const uint64_t expected = std::min<uint64_t>(core::kChunkBytes, entry->size - segment.offset);
  return segment.length == expected ? Status::Ok() : Status::Of(Code::kSizeMismatch);
}

// On a lane's or the pool's thread.
Status ReceiveJob::TakeSegments(const uint8_t* plaintext, size_t bytes) {
  const uint8_t* at = plaintext + 1;
  const uint8_t* const end = plaintext + bytes;
  Segment segment;
  while (at < end && Segment::Take(&at, end, &segment)) {
    Entry entry;
    table_.Find(segment.entry, &entry);
    const State state = StateOf(segment.entry);
    if (state == State::kDiscarded) TakeDiscarded(segment, entry);
    if (state != State::kWanted) continue;  // settled meanwhile, or sent twice
    Status status = Status::Ok();
    if (options_.to_stdout) {
      status = WriteOut(segment, entry);
    } else if (entry.type == EntryType::kStream) {
      status = TakeStream(segment, entry);
    } else if (entry.size <= core::kChunkBytes) {
      TakeWhole(segment, entry);
    } else if (segment.IsHole()) {
      status = TakeHole(segment, entry);
    } else {
      status = TakeChunk(segment, entry);
    }
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

void ReceiveJob::TakeWhole(const Segment& segment, const Entry& entry) {
  if (!Claim(segment.entry)) return;
  const std::string staged = Staging::SmallFileName(segment.entry);
  core::Fd fd;
  Status status = staging_.Create(staged, entry.mode, &fd);
  if (status.ok()) status = WriteAt(fd.get(), segment.data, segment.length, 0);
  if (status.ok()) status = SetMtime(fd.get(), entry.mtime_ns);
  fd.Close();
  if (status.ok()) return PlaceWhenSafe({segment.entry, staged, nullptr, entry.size, entry.size});
  staging_.Remove(staged);
  Fail(segment.entry, status);
}

Status ReceiveJob::TakeChunk(const Segment& segment, const Entry& entry) {
  std::shared_ptr<PartFile> part;
  if (const Status status = PartOf(segment.entry, entry, &part); !status.ok()) return status;
  if (!part) return Status::Ok();
  PartFile::Written written;
  const auto chunk = static_cast<uint32_t>(segment.offset / core::kChunkBytes);
  Status status = part->Write(chunk, segment.data, segment.length, &written);
  if (written != PartFile::Written::kIgnored) AddBytes(segment.length);
  if (written == PartFile::Written::kLast) PlaceWhenSafe({segment.entry, part->DataName(), part, entry.size, 0});
  if (!status.ok()) Fail(segment.entry, status);
  return Status::Ok();
}

Status ReceiveJob::TakeHole(const Segment& segment, const Entry& entry) {
  std::shared_ptr<PartFile> part;
  if (const Status status = PartOf(segment.entry, entry, &part); !status.ok()) return status;
  if (!part) return Status::Ok();
  PartFile::Written written;
  uint64_t new_bytes;
  const auto chunk = static_cast<uint32_t>(segment.offset / core::kChunkBytes);
  const Status status = part->LeaveHole(chunk, segment.length, &new_bytes, &written);
  AddBytes(new_bytes);
  if (written == PartFile::Written::kLast) PlaceWhenSafe({segment.entry, part->DataName(), part, entry.size, 0});
  if (!status.ok()) Fail(segment.entry, status);
  return Status::Ok();
}

void ReceiveJob::PlaceWhenSafe(Finished file) {
  if (sync_batch_) return sync_batch_->Add(std::move(file));
  Place(file, Status::Ok());
}

// On the thread that brought the last byte, or on the batch's.
void ReceiveJob::Place(const Finished& file, Status safe) {
  Entry entry;
  table_.Find(file.index, &entry);
  Status status = safe;
  // the sender gave up this file meanwhile
  if (StateOf(file.index) == State::kFailed) status = Status::Of(Code::kCancelled);
  if (status.ok() && file.part) status = file.part->Complete(entry.mode);
  if (status.ok()) status = destination_.Place(file.index, entry, staging_, file.staged);
  if (!status.ok()) {
    if (!file.part) staging_.Remove(file.staged);
    return Fail(file.index, status);
  }
  if (file.part) {
    file.part->Forget();
    DropPart(file.index);
  }
  Done(file.index, file.bytes, file.new_bytes);
}

// A stream travels on one lane, in order, so that an honest peer never waits for this lock.
Status ReceiveJob::TakeStream(const Segment& segment, const Entry& entry) {
  const std::scoped_lock one_at_a_time(streams_mutex_);
  if (StateOf(segment.entry) != State::kWanted) return Status::Ok();
  if (streams_.size() >= kMostStreams && !streams_.contains(segment.entry)) return Status::Of(Code::kLimitExceeded);
  const std::string staged = "s-" + std::to_string(segment.entry);
  OpenStream& stream = streams_[segment.entry];
  if (segment.offset != stream.bytes) return Status::Of(Code::kSizeMismatch);
  Status status = stream.fd.valid() ? Status::Ok() : staging_.Create(staged, entry.mode, &stream.fd);
  if (status.ok()) status = WriteAt(stream.fd.get(), segment.data, segment.length, segment.offset);
  stream.bytes += segment.length;
  if (status.ok()) AddBytes(segment.length);
  const bool ended = segment.flags & kEndOfStream;
  if (status.ok() && !ended) return Status::Ok();
  if (status.ok()) status = SetMtime(stream.fd.get(), entry.mtime_ns);
  const uint64_t bytes = stream.bytes;
  streams_.erase(segment.entry);
  if (status.ok() && Claim(segment.entry)) {
    PlaceWhenSafe({segment.entry, staged, nullptr, bytes, 0});
  } else {
    staging_.Remove(staged);
    Fail(segment.entry, status);
  }
  return Status::Ok();
}

// --stdout: there is one lane, so files come one after another and their bytes in order.
Status ReceiveJob::WriteOut(const Segment& segment, const Entry& entry) {
  if (segment.entry != out_entry_ && StateOf(out_entry_) != State::kWanted) {
    out_entry_ = segment.entry;
    out_offset_ = 0;
  }
  if (segment.entry != out_entry_ || segment.offset != out_offset_) return Status::Of(Code::kSizeMismatch);
  if (segment.IsHole()) {
    if (const Status status = WriteZeros(BytesOf(segment, entry)); !status.ok()) return status;
  } else {
    if (const Status status = WriteToPipe(segment.data, segment.length); !status.ok()) return status;
    AddBytes(segment.length);
    out_offset_ += segment.length;
  }
  const bool ended = entry.type == EntryType::kStream ? segment.flags & kEndOfStream : out_offset_ == entry.size;
  if (ended) Done(segment.entry, out_offset_, 0);
  return Status::Ok();
}

// Writes a hole's zeros chunk by chunk, so that progress advances.
Status ReceiveJob::WriteZeros(uint64_t bytes) {
  const std::vector<uint8_t> zeros(std::min<uint64_t>(bytes, core::kChunkBytes));
  for (uint64_t left = bytes; left > 0;) {
    const size_t now = std::min<uint64_t>(left, zeros.size());
    if (const Status status = WriteToPipe(zeros.data(), now); !status.ok()) return status;
    AddBytes(now);
    out_offset_ += now;
    left -= now;
  }
  return Status::Ok();
}

// Never blocks for long, so that a stalled reader cannot delay a stop.
Status ReceiveJob::WriteToPipe(const uint8_t* data, size_t bytes) const {
  while (bytes > 0) {
    if (stopped_.load()) return Status::Of(Code::kCancelled);
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (poll(&output, 1, kReceiveStopCheckMs) != 1) continue;
    const ssize_t written = write(STDOUT_FILENO, data, std::min(bytes, kPipeBytes));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return WriteError(Code::kDestinationUnusable);
    data += written;
    bytes -= static_cast<size_t>(written);
  }
  return Status::Ok();
}

void ReceiveJob::Discard(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (index < states_.size() && states_[index] == State::kWanted) states_[index] = State::kDiscarded;
}

void ReceiveJob::TakeDiscarded(const Segment& segment, const Entry& entry) {
  {
    const std::scoped_lock lock(mutex_);
    const uint64_t bytes = BytesOf(segment, entry);
    progress_.bytes += bytes;
    if ((discarded_[segment.entry] += bytes) != entry.size) return;
  }
  Done(segment.entry, entry.size, 0);
  wake_();  // a measurement waits for this moment
}

void ReceiveJob::FailEntry(uint32_t index, bool keep_part) {
  if (!Settle(index, State::kFailed) || keep_part) return;
  std::shared_ptr<PartFile> part;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = parts_.find(index); found != parts_.end()) {
      part = std::move(found->second);
      parts_.erase(found);
    }
  }
  if (part) part->Discard();
}

// Null when the entry was settled meanwhile: no part of it may appear again.
Status ReceiveJob::PartOf(uint32_t index, const Entry& entry, std::shared_ptr<PartFile>* part) {
  const std::scoped_lock lock(mutex_);
  if (states_[index] != State::kWanted) return Status::Ok();
  const auto found = parts_.find(index);
  if (found != parts_.end()) {
    *part = found->second;
    return Status::Ok();
  }
  if (parts_.size() >= kMostParts + resumed_parts_) return Status::Of(Code::kLimitExceeded);
  uint64_t bitmap_bytes = ChunksOf(entry.size) / 8;
  for (const auto& [begun, other] : parts_) bitmap_bytes += ChunksOf(other->size()) / 8;
  if (bitmap_bytes > kMostBitmapBytes) return Status::Of(Code::kLimitExceeded);
  *part = std::make_shared<PartFile>(staging_, IdentityOf(index, entry));
  parts_[index] = *part;
  return Status::Ok();
}

Identity ReceiveJob::IdentityOf(uint32_t index, const Entry& entry) const {
  return {table_.PathOf(index), entry.size, entry.mtime_ns, entry.sparse};
}

void ReceiveJob::DropPart(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  parts_.erase(index);
}

}  // namespace keibi::stream
