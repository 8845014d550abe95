// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_job.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "core/limits.h"
#include "manifest/digest.h"
#include "platform/disk.h"
#include "platform/file_time.h"

namespace keibi::stream {

using core::Code;
using core::Status;

namespace {

constexpr std::chrono::seconds kSaveEvery{1};

size_t PoolThreads() { return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 4); }

}  // namespace

ReceiveJob::ReceiveJob(ReceiveOptions options, core::Wake wake)
    : options_(std::move(options)),
      wake_(std::move(wake)),
      destination_(table_, options_.collisions),
      limiter_(options_.budget),
      lanes_(this, &limiter_, stopped_, rekeys_, [this](LaneEnd end) {
        {
          const std::scoped_lock lock(mutex_);
          news_.lanes_ended.push_back(end);
        }
        wake_();
      }) {}

Status ReceiveJob::Open() {
  if (options_.to_stdout) return Status::Ok();
  const std::scoped_lock call(calls_);
  if (stopped_.load()) return Status::Of(Code::kCancelled);
  if (const Status status = destination_.Open(options_.out, options_.beneath); !status.ok()) return status;
  if (const Status status = staging_.Open(destination_.fd()); !status.ok()) return status;
  pool_ = std::make_unique<WriterPool>(
      PoolThreads(), [this](const uint8_t* plaintext, size_t bytes) { (void)TakeSegments(plaintext, bytes); });
  if (options_.durable) {
    sync_batch_ =
        std::make_unique<SyncBatch>(staging_, [this](const Finished& file, Status safe) { Place(file, safe); });
  }
  saver_ = std::thread([this] { RunSaver(); });
  return Status::Ok();
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
  return DigestChunks(fd.get(), entry.size, stopped_, digests);
}

Status ReceiveJob::Distrust(uint32_t index) {
  Entry entry;
  if (!table_.Find(index, &entry)) return Status::Of(Code::kInternal);
  return destination_.MarkDamaged(index, entry);
}

Status ReceiveJob::Finish() {
  const std::scoped_lock call(calls_);
  if (options_.to_stdout || stopped_.load()) return Status::Ok();
  destination_.FinishDirectories([this](uint32_t index, Status status) {
    if (StateOf(index) == State::kFailed) return;  // reported when it could not be created
    const std::scoped_lock lock(mutex_);
    news_.problems.push_back({index, status});
  });
  return options_.durable ? SyncFileSystem(destination_.fd()) : Status::Ok();
}

void ReceiveJob::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    stopping_.notify_all();
  }
  // No more lanes arrive; a call in progress ends soon.
  limiter_.Stop();
  const std::scoped_lock call(calls_);
  if (std::exchange(closed_, true)) return;
  lanes_.Shutdown();
  if (pool_) pool_->Stop();
  lanes_.Join();
  if (sync_batch_) sync_batch_->Stop();
  if (saver_.joinable()) saver_.join();
  SaveParts(/*sync=*/true);
  parts_.clear();
  streams_.clear();
  staging_.Close();
  // The job lives until JavaScript collects its wrapper, and the collector does not see these megabytes: free them now.
  pool_.reset();
  destination_.CloseDirectories();
}

ReceiveNews ReceiveJob::TakeNews() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

ReceiveProgress ReceiveJob::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

ReceiveJob::State ReceiveJob::StateOf(uint32_t index) const {
  const std::scoped_lock lock(mutex_);
  return index < states_.size() ? states_[index] : State::kNone;
}

bool ReceiveJob::Claim(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (states_[index] != State::kWanted) return false;
  states_[index] = State::kTaken;
  return true;
}

bool ReceiveJob::Settle(uint32_t index, State state) {
  const std::scoped_lock lock(mutex_);
  return SettleLocked(index, state);
}

// With mutex_ held.
bool ReceiveJob::SettleLocked(uint32_t index, State state) {
  if (index >= states_.size()) return false;
  const State before = states_[index];
  if (before != State::kWanted && before != State::kTaken && before != State::kDiscarded) return false;
  states_[index] = state;
  pending_--;
  CheckComplete();
  return true;
}

void ReceiveJob::AddBytes(uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.bytes += bytes;
}

void ReceiveJob::Done(uint32_t index, uint64_t file_bytes, uint64_t new_bytes) {
  const std::scoped_lock lock(mutex_);
  if (options_.report_placed) news_.placed.push_back(index);
  progress_.files++;
  progress_.placed_bytes += file_bytes;
  progress_.bytes += new_bytes;
  SettleLocked(index, State::kDone);
}

void ReceiveJob::Fail(uint32_t index, Status status) {
  {
    const std::scoped_lock lock(mutex_);
    if (states_[index] != State::kWanted && states_[index] != State::kTaken) return;
    news_.problems.push_back({index, status});
    SettleLocked(index, State::kFailed);
  }
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
  // A map that cannot be saved costs time at a resume, but no data; the saver retries in the next second.
  for (const auto& part : parts) (void)part->Save(sync);
}

void ReceiveJob::RunSaver() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, kSaveEvery, [&] { return stopped_.load(); })) {
    lock.unlock();
    SaveParts(/*sync=*/false);
    lock.lock();
  }
}

}  // namespace keibi::stream
