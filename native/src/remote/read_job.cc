// SPDX-License-Identifier: MPL-2.0
#include "remote/read_job.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>

#include "core/limits.h"

namespace keibi::remote {

using core::Code;
using core::Status;
using Clock = ReadWindow::Clock;

namespace {

// While this many bytes are requested, for all files together, nothing more is prefetched.
constexpr uint64_t kMostReadBytes = 2 * ReadWindow::kMost;

// Codes that are final for a file: its number stands for one path and one version.
bool IsFinal(Code code) {
  return code == Code::kSourceChanged || code == Code::kSourceMissing || code == Code::kPathRefused;
}

}  // namespace

ReadJob::ReadJob(std::shared_ptr<net::RateBudget> budget, core::Wake wake)
    : limiter_(std::move(budget)), wake_(std::move(wake)) {}

ReadJob::~ReadJob() { Stop(); }

Status ReadJob::AddLane(const net::LanePlace& place, uint32_t number, const net::ExpectedLanes& session) {
  const auto make = [&](net::DialledLane dialled) {
    return std::make_unique<ReadLane>(number, std::move(dialled), static_cast<AnswerSink*>(this), &limiter_);
  };
  const Status status = lanes_.Add(place, number, session, make, [this](Lane* lane) { RunLane(lane); });
  if (!status.ok()) return status;
  const std::scoped_lock lock(mutex_);
  AssignWaitingLocked();
  FlushLocked();
  return Status::Ok();
}

void ReadJob::RunLane(Lane* lane) {
  const Status status = lane->lane->Run();
  lane->lane->Shutdown();  // so that the other side, and a relay in between, notice at once
  const std::scoped_lock lock(mutex_);
  lanes_.Ended(lane);
  lane->finished = true;
  under_way_ -= lane->lane->under_way();
  const uint32_t number = lane->lane->number();
  for (auto& [file, reading] : files_) {
    for (auto& [first, run] : reading->asked) {
      if (run.lane != number) continue;
      run.lane = kNoLane;
      unassigned_.emplace(file, first);
    }
  }
  news_.lanes_ended.push_back({number, lane->lane->frames(), status});
  AssignWaitingLocked();
  FlushLocked();
  wake_();
}

void ReadJob::EndSession() {
  GuestLanes<ReadLane>::Lanes ended;
  {
    const std::scoped_lock lock(mutex_);
    ended = lanes_.EndSession();
  }
  lanes_.Join(ended);
  const std::scoped_lock lock(mutex_);
  window_.Restart();
}

void ReadJob::Rekey(uint32_t number, frame::Key secret) {
  const std::scoped_lock lock(mutex_);
  lanes_.rekeys().Add(number, std::move(secret));
}

void ReadJob::CutSilent(std::chrono::milliseconds patience) {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  for (const auto& each : lanes_.live()) {
    if (each->lane->reads() > 0 && now - each->heard > patience) each->lane->Shutdown();
  }
  FlushLocked();  // requests that have no answer to trigger them
}

std::vector<net::LaneState> ReadJob::lanes() const {
  const std::scoped_lock lock(mutex_);
  return lanes_.states();
}

Status ReadJob::Open(std::string path, const std::string& directory, const std::string& key,
                     const CacheIdentity& identity, uint32_t* file) {
  const core::Fd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return Status::FromErrno(Code::kDestinationUnusable);
  std::shared_ptr<CacheFile> cache;
  if (const Status status = CacheFile::Open(folder.get(), key, identity, &cache); !status.ok()) return status;
  const std::scoped_lock lock(mutex_);
  if (stopped_ || last_file_ == UINT32_MAX) return Status::Of(Code::kCancelled);
  *file = ++last_file_;
  std::shared_ptr<BlockSignal>& signal = signals_[directory];
  if (signal != nullptr && !signal->IsIn(folder.get())) signal = nullptr;
  if (signal == nullptr && !BlockSignal::Take(folder.get(), &signal).ok()) signal = nullptr;  // no listener
  files_.emplace(*file, std::make_unique<ReadFile>(std::move(path), std::move(cache), signal));
  return Status::Ok();
}

void ReadJob::Release(uint32_t file) {
  const std::scoped_lock lock(mutex_);
  const uint32_t number = NumberLocked(file);
  renumbered_.erase(file);
  const auto found = files_.find(number);
  if (found == files_.end() || found->second->released) return;
  for (const Waiter& waiter : found->second->waiters) ReportLocked(waiter.want, Status::Of(Code::kCancelled));
  found->second->waiters.clear();
  GiveUpLocked(number, found->second.get());
  FlushLocked();
}

// A lane can only forget a whole file, so blocks that are still awaited are requested again under another number.
void ReadJob::LeaveAhead(uint32_t file) {
  const std::scoped_lock lock(mutex_);
  const uint32_t number = NumberLocked(file);
  const auto found = files_.find(number);
  if (found == files_.end() || found->second->released || found->second->failed || last_file_ == UINT32_MAX) return;
  ReadFile* const left = found->second.get();
  if (std::none_of(left->asked.begin(), left->asked.end(),
                   [&](const auto& asked) { return !left->IsAwaited(asked.second); })) {
    return;
  }
  const uint32_t next = ++last_file_;
  auto& moved = files_[next] = std::make_unique<ReadFile>(left->path, left->cache, left->signal);
  moved->waiters.swap(left->waiters);
  renumbered_[file] = next;
  GiveUpLocked(number, left);
  SettleLocked(next, moved.get());
  FlushLocked();
}

uint32_t ReadJob::NumberLocked(uint32_t file) const {
  const auto found = renumbered_.find(file);
  return found == renumbered_.end() ? file : found->second;
}

// The file is erased when the last of its pending runs has arrived.
void ReadJob::GiveUpLocked(uint32_t number, ReadFile* file) {
  file->released = true;
  std::erase_if(file->asked, [&](const auto& asked) {
    if (asked.second.lane != kNoLane) return false;
    unassigned_.erase({number, asked.first});
    return true;
  });
  for (const auto& each : lanes_.live()) each->lane->Forget(number);
  if (file->asked.empty()) files_.erase(number);
}

Status ReadJob::Want(uint32_t want, uint32_t opened, uint32_t first, uint32_t count, uint32_t ahead, bool* here) {
  const std::scoped_lock lock(mutex_);
  const uint32_t number = NumberLocked(opened);
  const auto found = files_.find(number);
  if (stopped_ || found == files_.end() || found->second->released) return Status::Of(Code::kInternal);
  ReadFile* const file = found->second.get();
  if (file->failed) return *file->failed;
  if (first > file->cache->blocks() || count > file->cache->blocks() - first) return Status::Of(Code::kSizeMismatch);
  const auto now = Clock::now();
  std::vector<uint32_t> fresh;
  file->AskFor(first, count, /*ahead=*/false, now, &fresh);
  if (under_way_ < kMostReadBytes) file->AskFor(first + count, std::min(ahead, AheadBlocksLocked()), true, now, &fresh);
  for (const uint32_t run : fresh) AssignLocked(number, file, &file->asked.at(run));
  FlushLocked();
  *here = file->cache->HasAll(first, count);
  if (!*here) file->waiters.push_back({want, first, count});
  return Status::Ok();
}

void ReadJob::Cancel(uint32_t file, uint32_t want) {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(NumberLocked(file));
  if (found == files_.end()) return;
  std::erase_if(found->second->waiters, [&](const Waiter& waiter) { return waiter.want == want; });
}

uint32_t ReadJob::AheadBlocksLocked() const { return static_cast<uint32_t>(window_.bytes() / kCacheBlockBytes); }

uint32_t ReadJob::ahead_blocks() const {
  const std::scoped_lock lock(mutex_);
  return AheadBlocksLocked();
}

uint64_t ReadJob::bytes() const {
  const std::scoped_lock lock(mutex_);
  return lanes_.bytes();
}

ReadNews ReadJob::TakeNews() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

void ReadJob::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    limiter_.Stop();
  }
  EndSession();
}

// On a lane's thread. Writes the bytes without the lock: the run belongs to this lane until ArrivedLocked.
Status ReadJob::OnBytes(uint32_t lane, uint32_t number, uint64_t offset, const uint8_t* data, uint32_t bytes) {
  ReadFile* file = nullptr;
  std::shared_ptr<CacheFile> cache;
  std::shared_ptr<BlockSignal> signal;
  uint32_t first = 0;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(number);
    AskedRun* const run = found == files_.end() ? nullptr : found->second->Find(offset);
    if (run == nullptr || run->lane != lane || found->second->BytesOf(*run) != bytes) {
      return Status::Of(Code::kHandshakeMalformed);
    }
    file = found->second.get();
    cache = file->cache;
    signal = file->signal;
    first = run->first;
  }
  const Status written = cache->Write(first, data, bytes);
  if (written.ok() && signal != nullptr) signal->Notify();
  const std::scoped_lock lock(mutex_);
  ArrivedLocked(number, file, offset, written);
  return Status::Ok();
}

Status ReadJob::OnRefusal(uint32_t lane, const share::Refusal& refusal) {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(refusal.file);
  AskedRun* const run = found == files_.end() ? nullptr : found->second->Find(refusal.offset);
  if (run == nullptr || run->lane != lane) return Status::Of(Code::kHandshakeMalformed);
  ReadFile* const file = found->second.get();
  if (refusal.reason == share::Refusal::Reason::kForgotten && !file->released)
    return Status::Of(Code::kHandshakeMalformed);
  ArrivedLocked(refusal.file, file, refusal.offset, share::StatusOf(refusal.reason));
  return Status::Ok();
}

void ReadJob::OnFrameEnd(uint32_t lane) {
  const std::scoped_lock lock(mutex_);
  if (Lane* const running = lanes_.Find(lane); running != nullptr) running->heard = Clock::now();
  AssignWaitingLocked();
  FlushLocked();
}

// Handles the answer to a run: its bytes are cached, or `written` says why not.
void ReadJob::ArrivedLocked(uint32_t number, ReadFile* file, uint64_t offset, Status written) {
  const auto at = file->asked.find(static_cast<uint32_t>(offset / kCacheBlockBytes));
  const AskedRun run = at->second;
  const auto bytes = static_cast<uint32_t>(file->BytesOf(run));
  file->asked.erase(at);
  if (Lane* const lane = lanes_.Find(run.lane); lane != nullptr) {
    lane->lane->Answered(number, bytes);
    under_way_ -= bytes;
  }
  if (written.ok()) window_.Arrived(bytes, run.asked, Clock::now(), under_way_);
  if (file->released) {
    if (file->asked.empty()) files_.erase(number);
    return;
  }
  if (!written.ok() && IsFinal(written.code)) return FailLocked(file, written);
  if (!written.ok()) {
    std::erase_if(file->waiters, [&](const Waiter& waiter) {
      const bool concerned = waiter.first < run.first + run.count && run.first < waiter.first + waiter.count;
      if (concerned) ReportLocked(waiter.want, written);
      return concerned;
    });
  }
  SettleLocked(number, file);
}

// Settles every waiter whose blocks are all cached. Requests evicted blocks again.
void ReadJob::SettleLocked(uint32_t number, ReadFile* file) {
  std::vector<uint32_t> fresh;
  std::erase_if(file->waiters, [&](const Waiter& waiter) {
    const bool here = file->cache->HasAll(waiter.first, waiter.count);
    if (here) ReportLocked(waiter.want, Status::Ok());
    if (!here) file->AskFor(waiter.first, waiter.count, /*ahead=*/false, Clock::now(), &fresh);
    return here;
  });
  for (const uint32_t run : fresh) AssignLocked(number, file, &file->asked.at(run));
}

void ReadJob::FailLocked(ReadFile* file, Status status) {
  file->failed = status;
  for (const Waiter& waiter : file->waiters) ReportLocked(waiter.want, status);
  file->waiters.clear();
}

void ReadJob::ReportLocked(uint32_t want, Status status) {
  news_.settled.push_back({want, status});
  wake_();
}

// The lane with the fewest pending bytes.
ReadJob::Lane* ReadJob::BestLaneLocked(uint32_t file, const std::string& path) {
  Lane* best = nullptr;
  for (const auto& each : lanes_.live()) {
    if (!each->lane->HasRoomFor(file, path)) continue;
    if (best == nullptr || each->lane->under_way() < best->lane->under_way()) best = each.get();
  }
  return best;
}

void ReadJob::AssignLocked(uint32_t number, ReadFile* file, AskedRun* run) {
  Lane* const lane = BestLaneLocked(number, file->path);
  if (lane == nullptr) {
    unassigned_.emplace(number, run->first);
    return;
  }
  const auto bytes = static_cast<uint32_t>(file->BytesOf(*run));
  // The lane's silence counts from the first pending read.
  if (lane->lane->reads() == 0) lane->heard = Clock::now();
  lane->lane->Ask(number, file->path, {file->cache->size(), file->cache->mtime_ns()},
                  uint64_t{run->first} * kCacheBlockBytes, bytes, run->ahead);
  run->lane = lane->lane->number();
  run->asked = Clock::now();
  under_way_ += bytes;
}

void ReadJob::AssignWaitingLocked() {
  for (auto at = unassigned_.begin(); at != unassigned_.end();) {
    const auto [number, first] = *at;
    const auto found = files_.find(number);
    ReadFile* const file = found->second.get();
    if (file->released) {
      // Its lane is gone, and a released file needs no other lane.
      file->asked.erase(first);
      if (file->asked.empty()) files_.erase(found);
    } else {
      if (BestLaneLocked(number, file->path) == nullptr) return;
      AssignLocked(number, file, &file->asked.at(first));
    }
    at = unassigned_.erase(at);
  }
}

void ReadJob::FlushLocked() {
  for (const auto& each : lanes_.live()) each->lane->Flush();
}

}  // namespace keibi::remote
