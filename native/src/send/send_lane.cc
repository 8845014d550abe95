// SPDX-License-Identifier: MPL-2.0
#include "send/send_lane.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "core/limits.h"

namespace keibi::send {

using core::Code;
using core::Status;
using manifest::LaneFrame;
using manifest::Segment;

namespace {

constexpr int kSendStopCheckMs = 100;
constexpr int kGatherMs = 20;  // a slow writer's bytes leave at most this long after they came

}  // namespace

Status SendLane::Run() {
  SendWork work;
  while (queue_->Take(&work, leaving_)) {
    if (stopped_.load()) break;
    if (work.kind == SendWork::Kind::kEnd) {
      const Status status = SendFrame(LaneFrame::kEnd, 1);
      shutdown(socket_.get(), SHUT_WR);
      return status;
    }
    if (const Status status = Do(work); !status.ok()) return status;
    work.file.reset();
  }
  return Status::Of(Code::kCancelled);
}

void SendLane::Shutdown() {
  stopped_.store(true);
  shutdown(socket_.get(), SHUT_RDWR);
  Retire();
}

void SendLane::Retire() {
  leaving_.store(true);
  queue_->Nudge();
}

Status SendLane::Do(const SendWork& work) {
  switch (work.kind) {
    case SendWork::Kind::kChunk:
      return SendChunk(work);
    case SendWork::Kind::kPack:
      return SendPack(work.pack);
    case SendWork::Kind::kStream:
      return SendStream(work.pack.front());
    case SendWork::Kind::kEnd:
      break;
  }
  return Status::Of(Code::kInternal);
}

Status SendLane::SendChunk(const SendWork& work) {
  size_t bytes = 0;
  uint32_t hole_chunks = 0;
  uint8_t* const header = buffer_.plaintext() + 1;
  Status read = work.file->FindHole(*sources_, work.chunk, &hole_chunks);
  if (read.ok() && hole_chunks > 0) return SendHole(work, hole_chunks);
  if (read.ok()) read = work.file->ReadChunk(*sources_, work.chunk, header + Segment::kHeaderBytes, &bytes);
  if (!read.ok()) {
    if (work.file->MarkFailed()) on_failed_(work.file->index(), read);
    return Status::Ok();
  }
  const Segment segment{work.file->index(), 0, uint64_t{work.chunk} * core::kChunkBytes, static_cast<uint32_t>(bytes)};
  segment.WriteHeader(header);
  log_.Add(work);
  return SendFrame(LaneFrame::kSegments, 1 + Segment::kHeaderBytes + bytes);
}

Status SendLane::SendHole(const SendWork& work, uint32_t chunks) {
  queue_->Skip(*work.file, work.chunk + chunks);
  const Segment segment{work.file->index(), manifest::kHole, uint64_t{work.chunk} * core::kChunkBytes, chunks};
  segment.WriteHeader(buffer_.plaintext() + 1);
  log_.Add(work);
  return SendFrame(LaneFrame::kSegments, 1 + Segment::kHeaderBytes);
}

Status SendLane::SendPack(const std::vector<uint32_t>& pack) {
  size_t at = 1;
  SendWork sent{.kind = SendWork::Kind::kPack};
  for (const uint32_t index : pack) {
    const size_t bytes = AppendWhole(index, at);
    if (bytes > 0) sent.pack.push_back(index);  // failures are already reported; do not log them as sent
    at += bytes;
  }
  if (sent.pack.empty()) return Status::Ok();
  log_.Add(std::move(sent));
  return SendFrame(LaneFrame::kSegments, at);
}

// Appends a whole file at plaintext offset `at`; 0 if it failed. The queue ensures that it fits.
size_t SendLane::AppendWhole(uint32_t index, size_t at) {
  uint8_t* const header = buffer_.plaintext() + at;
  manifest::Entry entry;
  core::Fd fd;
  Status status = sources_->Open(index, &entry, &fd);
  size_t have = 0;
  while (status.ok() && have < entry.size) {
    const ssize_t got = read(fd.get(), header + Segment::kHeaderBytes + have, entry.size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) status = Status::FromErrno(errno == EISDIR ? Code::kSourceChanged : Code::kSourceUnreadable);
    if (got == 0) status = Status::Of(Code::kSourceChanged);
    if (got > 0) have += static_cast<size_t>(got);
  }
  if (status.ok()) status = Sources::CheckUnchanged(fd.get(), entry);
  if (!status.ok()) {
    on_failed_(index, status);
    return 0;
  }
  const Segment segment{index, 0, 0, static_cast<uint32_t>(entry.size)};
  segment.WriteHeader(header);
  return Segment::kHeaderBytes + entry.size;
}

// Standard input: sends the bytes that are there, at most a chunk at a time, until its end.
Status SendLane::SendStream(uint32_t index) {
  uint8_t* const header = buffer_.plaintext() + 1;
  Segment segment{index};
  streaming_.store(true);
  while (!stopped_.load()) {
    segment.length = 0;
    while (segment.length < core::kChunkBytes && !(segment.flags & manifest::kEndOfStream)) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, segment.length == 0 ? kSendStopCheckMs : kGatherMs);
      if (stopped_.load()) return Status::Of(Code::kCancelled);
      if (ready < 0 || (ready == 0 && segment.length == 0)) continue;
      if (ready == 0) break;
      const ssize_t got =
          read(STDIN_FILENO, header + Segment::kHeaderBytes + segment.length, core::kChunkBytes - segment.length);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) {
        streaming_.store(false);
        on_failed_(index, Status::FromErrno(Code::kSourceUnreadable));
        return Status::Ok();
      }
      if (got == 0) segment.flags |= manifest::kEndOfStream;
      segment.length += static_cast<uint32_t>(got);
    }
    segment.WriteHeader(header);
    log_.Add({.kind = SendWork::Kind::kStream});
    const Status status = SendFrame(LaneFrame::kSegments, 1 + Segment::kHeaderBytes + segment.length);
    if (!status.ok()) return status;
    if (segment.flags & manifest::kEndOfStream) {
      streaming_.store(false);
      return status;
    }
    segment.offset += segment.length;
  }
  return Status::Of(Code::kCancelled);
}

Status SendLane::SendFrame(LaneFrame kind, size_t plaintext_bytes) {
  buffer_.plaintext()[0] = static_cast<uint8_t>(kind);
  const size_t bytes = sealer_->Seal(buffer_.frame(), plaintext_bytes);
  if (bytes == 0) return Status::Of(Code::kInternal);
  return net::SendAll(socket_.get(), buffer_.frame(), bytes, limiter_);
}

}  // namespace keibi::send
