// SPDX-License-Identifier: MPL-2.0
#include "stream/receive_job.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "core/limits.h"
#include "stream/digest.h"
#include "stream/file_time.h"

namespace keibi::stream {

using core::Code;
using core::Status;

namespace {

constexpr std::chrono::seconds kSaveEvery{1};
constexpr std::chrono::seconds kDialTimeout{10};
constexpr int kStopCheckMs = 100;
constexpr std::array<uint8_t, 8> kLanePreamble = {'K', 'E', 'I', 'B', 'I', '-', 'L', '1'};

size_t PoolThreads() { return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 4); }

}  // namespace

ReceiveJob::ReceiveJob(ReceiveOptions options, Wake wake)
    : options_(std::move(options)), wake_(std::move(wake)), destination_(table_), limiter_(options_.limit_bytes_per_second) {}

Status ReceiveJob::Open() {
  if (options_.to_stdout) return Status::Ok();
  if (const Status status = destination_.Open(options_.out); !status.ok()) return status;
  if (const Status status = staging_.Open(destination_.fd()); !status.ok()) return status;
  pool_ = std::make_unique<FilePool>(PoolThreads(), [this](const uint8_t* plaintext, size_t bytes) { (void)TakeSegments(plaintext, bytes); });
  saver_ = std::thread([this] { RunSaver(); });
  return Status::Ok();
}

Status ReceiveJob::AddLane(const std::string& host, uint16_t port, uint32_t lane, const ExpectedLanes& session) {
  using frame::Role;
  core::Fd socket;
  if (const Status status = Dial(host, port, kDialTimeout, &socket); !status.ok()) return status;
  const Role other = session.self == Role::kInitiator ? Role::kResponder : Role::kInitiator;
  frame::Sealer sealer(session.suite, frame::LaneKey(session.lane_secret, session.suite, session.self, lane));
  frame::Opener opener(session.suite, frame::LaneKey(session.lane_secret, session.suite, other, lane));

  std::vector<uint8_t> hello(kLanePreamble.begin(), kLanePreamble.end());
  hello.insert(hello.end(), session.session_id.begin(), session.session_id.end());
  hello.resize(hello.size() + sizeof lane + frame::kOverheadBytes + 1);
  uint8_t* const sealed = hello.data() + hello.size() - frame::kOverheadBytes - 1;
  core::StoreBigEndian<uint32_t>(sealed - sizeof lane, lane);
  sealed[frame::kHeaderBytes] = static_cast<uint8_t>(LaneFrame::kHello);
  if (sealer.Seal(sealed, 1) == 0) return Status::Of(Code::kInternal);
  RateLimiter unlimited(0);
  if (const Status status = SendAll(socket.get(), hello.data(), hello.size(), &unlimited); !status.ok()) return status;

  const std::scoped_lock lock(mutex_);
  if (stopped_) return Status::Of(Code::kCancelled);
  auto added = std::make_unique<ReceiveLane>(std::move(socket), std::move(opener), this, &limiter_);
  ReceiveLane* const running = added.get();
  lanes_.push_back({std::move(added), std::thread([this, running] {
                      const Status status = running->Run();
                      {
                        const std::scoped_lock news_lock(mutex_);
                        news_.lanes_closed.push_back(status);
                      }
                      wake_();
                    })});
  return Status::Ok();
}

// On a lane's thread. Everything is checked before anything is written.
Status ReceiveJob::OnSegments(std::unique_ptr<LaneBuffer>* buffer, size_t plaintext_bytes) {
  const uint8_t* at = (*buffer)->plaintext() + 1;
  const uint8_t* const end = (*buffer)->plaintext() + plaintext_bytes;
  Entry entry;
  while (at < end) {
    Segment segment;
    if (!Segment::Take(&at, end, &segment)) return Status::Of(Code::kHandshakeMalformed);
    if (const Status status = CheckSegment(segment, &entry); !status.ok()) return status;
  }
  const bool small = entry.type == EntryType::kFile && entry.size <= core::kChunkBytes;
  if (small && pool_) return pool_->Exchange(buffer, plaintext_bytes) ? Status::Ok() : Status::Of(Code::kCancelled);
  return TakeSegments((*buffer)->plaintext(), plaintext_bytes);
}

// What PROTOCOL 5.2 says of a segment, and that its entry is one we asked for.
Status ReceiveJob::CheckSegment(const Segment& segment, Entry* entry) const {
  if (!table_.Find(segment.entry, entry) || !entry->IsFile()) return Status::Of(Code::kHandshakeMalformed);
  if (StateOf(segment.entry) == State::kNone) return Status::Of(Code::kHandshakeMalformed);
  if (entry->type == EntryType::kStream) {
    const bool fits = segment.offset <= core::kMaxFileBytes && segment.length <= core::kChunkBytes;
    return fits ? Status::Ok() : Status::Of(Code::kLimitExceeded);
  }
  if (segment.offset >= entry->size || segment.offset % core::kChunkBytes != 0) return Status::Of(Code::kSizeMismatch);
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
    if (StateOf(segment.entry) != State::kWanted) continue;  // failed meanwhile
    Status status = Status::Ok();
    if (options_.to_stdout) {
      status = WriteOut(segment, entry);
    } else if (entry.type == EntryType::kStream) {
      status = TakeStream(segment, entry);
    } else if (entry.size <= core::kChunkBytes) {
      TakeWhole(segment, entry);
    } else {
      TakeChunk(segment, entry);
    }
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

void ReceiveJob::TakeWhole(const Segment& segment, const Entry& entry) {
  const std::string staged = "s-" + std::to_string(segment.entry);
  core::Fd fd;
  Status status = staging_.Create(staged, entry.mode, &fd);
  if (status.ok()) status = WriteAt(fd.get(), segment.data, segment.length, 0);
  if (status.ok() && futimens(fd.get(), FileTimes(entry.mtime_ns).times) != 0) status = Status::FromErrno(Code::kDestinationUnusable);
  fd.Close();
  if (status.ok()) status = destination_.Place(segment.entry, entry, staging_, staged);
  if (status.ok()) {
    AddBytes(entry.size);
    return Done(segment.entry, entry.size);
  }
  staging_.Remove(staged);
  Fail(segment.entry, status);
}

void ReceiveJob::TakeChunk(const Segment& segment, const Entry& entry) {
  const std::shared_ptr<PartFile> part = PartOf(segment.entry, entry);
  Status status = part->Write(static_cast<uint32_t>(segment.offset / core::kChunkBytes), segment.data, segment.length);
  if (status.ok()) AddBytes(segment.length);
  if (status.ok() && !part->complete()) return;
  if (status.ok()) status = PlacePart(segment.entry, entry, *part);
  if (!status.ok()) Fail(segment.entry, status);
}

Status ReceiveJob::PlacePart(uint32_t index, const Entry& entry, PartFile& part) {
  Status status = part.Complete(entry.mode);
  if (status.ok()) status = destination_.Place(index, entry, staging_, part.DataName());
  if (!status.ok()) return status;
  part.Forget();
  DropPart(index);
  Done(index, entry.size);
  return status;
}

// One writer: a stream travels on one lane, in order.
Status ReceiveJob::TakeStream(const Segment& segment, const Entry& entry) {
  const std::string staged = "s-" + std::to_string(segment.entry);
  OpenStream* stream;
  {
    const std::scoped_lock lock(mutex_);
    stream = &streams_[segment.entry];
  }
  if (segment.offset != stream->bytes) return Status::Of(Code::kSizeMismatch);
  Status status = stream->fd.valid() ? Status::Ok() : staging_.Create(staged, entry.mode, &stream->fd);
  if (status.ok()) status = WriteAt(stream->fd.get(), segment.data, segment.length, segment.offset);
  stream->bytes += segment.length;
  if (status.ok()) AddBytes(segment.length);
  const bool ended = segment.flags & kEndOfStream;
  if (status.ok() && !ended) return Status::Ok();
  if (status.ok() && futimens(stream->fd.get(), FileTimes(entry.mtime_ns).times) != 0) status = Status::FromErrno(Code::kDestinationUnusable);
  stream->fd.Close();
  if (status.ok()) status = destination_.Place(segment.entry, entry, staging_, staged);
  if (status.ok()) {
    Done(segment.entry, segment.offset + segment.length);
  } else {
    staging_.Remove(staged);
    Fail(segment.entry, status);
  }
  return Status::Ok();
}

// --stdout: one lane, so files come one after the other and their bytes in order.
Status ReceiveJob::WriteOut(const Segment& segment, const Entry& entry) {
  if (segment.offset != out_offset_) return Status::Of(Code::kSizeMismatch);
  for (size_t done = 0; done < segment.length;) {
    const ssize_t written = write(STDOUT_FILENO, segment.data + done, segment.length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      // Node makes a pipe non-blocking as soon as JavaScript has touched it.
      pollfd output{STDOUT_FILENO, POLLOUT, 0};
      poll(&output, 1, kStopCheckMs);
      if (stopped()) return Status::Of(Code::kCancelled);
      continue;
    }
    if (written < 0) return Status::FromErrno(Code::kDestinationUnusable);
    done += static_cast<size_t>(written);
  }
  AddBytes(segment.length);
  out_offset_ += segment.length;
  const bool ended = entry.type == EntryType::kStream ? segment.flags & kEndOfStream : out_offset_ == entry.size;
  if (ended) Done(segment.entry, std::exchange(out_offset_, 0));
  return Status::Ok();
}

void ReceiveJob::FailEntry(uint32_t index, bool keep_part) {
  std::shared_ptr<PartFile> part;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = parts_.find(index);
    if (found != parts_.end() && !keep_part) part = found->second;
  }
  if (!Settle(index, State::kFailed)) return;
  if (part) part->Discard();
  if (!keep_part) DropPart(index);
}

void ReceiveJob::EndOfPages() {
  const std::scoped_lock lock(mutex_);
  end_of_pages_ = true;
  CheckComplete();
}

Status ReceiveJob::Digest(uint32_t index, std::vector<uint8_t>* digests) {
  Entry entry;
  core::Fd fd;
  if (!table_.Find(index, &entry)) return Status::Of(Code::kInternal);
  if (const Status status = destination_.OpenPlaced(index, entry, &fd); !status.ok()) return status;
  ForgetCached(fd.get());
  return DigestChunks(fd.get(), entry.size, digests);
}

Status ReceiveJob::Distrust(uint32_t index) {
  Entry entry;
  core::Fd fd;
  if (!table_.Find(index, &entry)) return Status::Of(Code::kInternal);
  if (const Status status = destination_.OpenPlaced(index, entry, &fd); !status.ok()) return status;
  return futimens(fd.get(), nullptr) == 0 ? Status::Ok() : Status::FromErrno(Code::kDestinationUnusable);
}

void ReceiveJob::Finish() {
  if (options_.to_stdout) return;
  destination_.FinishDirectories([this](uint32_t index, Status status) {
    const std::scoped_lock lock(mutex_);
    news_.problems.push_back({index, status});
  });
}

void ReceiveJob::Stop() {
  std::vector<Lane> lanes;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    lanes = std::move(lanes_);
    stopping_.notify_all();
  }
  limiter_.Stop();
  for (const Lane& lane : lanes) lane.lane->Shutdown();
  if (pool_) pool_->Stop();
  for (Lane& lane : lanes) lane.thread.join();
  if (saver_.joinable()) saver_.join();
  SaveParts(/*sync=*/true);
  for (const auto& [index, stream] : streams_) {
    if (stream.fd.valid()) staging_.Remove("s-" + std::to_string(index));
  }
  staging_.Close();
}

ReceiveNews ReceiveJob::TakeNews() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

ReceiveProgress ReceiveJob::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

std::shared_ptr<PartFile> ReceiveJob::PartOf(uint32_t index, const Entry& entry) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<PartFile>& part = parts_[index];
  if (!part) part = std::make_shared<PartFile>(staging_, Identity{table_.PathOf(index), entry.size, entry.mtime_ns});
  return part;
}

void ReceiveJob::DropPart(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  parts_.erase(index);
}

ReceiveJob::State ReceiveJob::StateOf(uint32_t index) const {
  const std::scoped_lock lock(mutex_);
  return index < states_.size() ? states_[index] : State::kNone;
}

bool ReceiveJob::stopped() const {
  const std::scoped_lock lock(mutex_);
  return stopped_;
}

bool ReceiveJob::Settle(uint32_t index, State state) {
  const std::scoped_lock lock(mutex_);
  if (index >= states_.size() || states_[index] != State::kWanted) return false;
  states_[index] = state;
  pending_--;
  CheckComplete();
  return true;
}

void ReceiveJob::AddBytes(uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.bytes += bytes;
}

void ReceiveJob::Done(uint32_t index, uint64_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    progress_.files++;
    progress_.placed_bytes += bytes;
    if (options_.report_placed) news_.placed.push_back(index);
  }
  Settle(index, State::kDone);
}

void ReceiveJob::Fail(uint32_t index, Status status) {
  {
    const std::scoped_lock lock(mutex_);
    if (states_[index] != State::kWanted) return;
    news_.problems.push_back({index, status});
  }
  Settle(index, State::kFailed);
  wake_();
}

// With mutex_ held.
void ReceiveJob::CheckComplete() {
  if (!end_of_pages_ || pending_ > 0 || announced_) return;
  announced_ = news_.complete = true;
  wake_();
}

void ReceiveJob::SaveParts(bool sync) {
  std::vector<std::shared_ptr<PartFile>> parts;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [index, part] : parts_) parts.push_back(part);
  }
  // A map that cannot be saved costs time at a resume, no data; the next second tries again.
  for (const auto& part : parts) (void)part->Save(sync);
}

void ReceiveJob::RunSaver() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, kSaveEvery, [&] { return stopped_; })) {
    lock.unlock();
    SaveParts(/*sync=*/false);
    lock.lock();
  }
}

}  // namespace keibi::stream
