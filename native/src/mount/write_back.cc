// SPDX-License-Identifier: MPL-2.0
#include "mount/write_back.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kMostAge{rules::kPutAgeMs};  // of unsent data
constexpr uint64_t kManyBytes = rules::kPutBytes;
constexpr size_t kManyRanges = rules::kPutRanges;
constexpr size_t kMostDirtyFiles = rules::kMostDirtyFiles;  // each takes up to three descriptors
constexpr uint32_t kMostRunning = 16;
constexpr uint64_t kLeastPutBytes = uint64_t{1} << 20;
constexpr std::chrono::milliseconds kFirstBackoff{rules::kFirstBackoffMs};
constexpr std::chrono::milliseconds kMostBackoff{rules::kMostBackoffMs};

// Errors that may be transient.
bool MayPass(int error) { return error == EIO || error == ETIMEDOUT || error == ENOTCONN || error == EBUSY; }

// Whether skipping this put would lose data.
bool IsWorthKeeping(const Put& put) {
  return !put.ranges.empty() || put.now.size != put.base.size || put.keep != put.base.size;
}

}  // namespace

WriteBack::WriteBack(Options options, InodeTable* inodes, DaemonLink* link, Outside outside)
    : options_(std::move(options)),
      inodes_(inodes),
      outside_(std::move(outside)),
      limit_(options_.most_dirty_bytes, kMostDirtyFiles),
      uploader_({options_.label, std::max(options_.most_kept_bytes, options_.most_dirty_bytes)}, inodes, link,
                {.ended = [this](const Upload& upload, int error) { PutEnded(upload, error); },
                 .moved = [this](const Upload& upload, int error) { Moved(upload, error); },
                 .invalidate = outside_.invalidate,
                 .run =
                     [this](std::function<void()> job) {
                       const std::scoped_lock lock(mutex_);
                       jobs_.push_back(std::move(job));
                       changed_.notify_all();
                     }}),
      thread_([this] { Run(); }) {}

WriteBack::~WriteBack() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

WriteBack::File* WriteBack::FileOf(uint64_t ino) {
  const auto found = files_.find(ino);
  return found == files_.end() ? nullptr : &found->second;
}

void WriteBack::Opened(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  files_[ino].opens++;
}

void WriteBack::Closed(uint64_t ino) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  if (file == nullptr) return;
  if (file->opens > 0) file->opens--;
  if (file->overlay == nullptr && file->opens == 0 && file->holds == 0) {
    files_.erase(ino);
    return;
  }
  file->soon = true;
  Settle(ino, &calls);
  Pump(&calls);
}

bool WriteBack::IsOpen(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  const File* const file = FileOf(ino);
  return file != nullptr && file->opens > 0;
}

std::shared_ptr<OverlayFile> WriteBack::Find(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  return file == nullptr ? nullptr : file->overlay;
}

int WriteBack::Make(uint64_t ino, const FileVersion& base, std::shared_ptr<remote::CacheFile> content,
                    std::shared_ptr<OverlayFile>* overlay) {
  const std::scoped_lock lock(mutex_);
  File& file = files_[ino];
  if (file.overlay == nullptr) {
    if (const int error =
            OverlayFile::Open(options_.directory, base, std::move(content), limit_.total(), &file.overlay);
        error != 0) {
      if (file.opens == 0) files_.erase(ino);
      return error;
    }
    inodes_->Hold(ino);
    if (unsynced_.Remove(ino)) file.overlay->SetUnsynced();
  }
  *overlay = file.overlay;
  return 0;
}

void WriteBack::Drop(uint64_t ino, const std::shared_ptr<OverlayFile>& overlay) {
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay != overlay || file->Busy() || !file->waiters.empty() || overlay->NeedsPut(false))
    return;
  file->overlay = nullptr;
  inodes_->Forget(ino, 1);
  if (file->opens == 0) files_.erase(ino);
}

void WriteBack::WhenRoom(Then then) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  limit_.Wait(Clock::now() + options_.patience, std::move(then));
  for (const auto& [ino, file] : files_) {
    if (file.overlay != nullptr) ready_.insert(ino);
  }
  limit_.LetWrite(&calls);
  Pump(&calls);
}

void WriteBack::Unpin(uint64_t ino, File* file, DeferredCalls* calls) {
  if (!std::exchange(file->pinned, false)) return;
  limit_.RemoveFile();
  if (inodes_->own_changes().Unpin(ino)) calls->Add([this, ino] { outside_.look(ino); });
}

bool WriteBack::Changed(uint64_t ino, const std::shared_ptr<OverlayFile>& overlay) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay != overlay) return false;
  if (!file->gone && !file->pinned) {
    file->gone = !inodes_->own_changes().Pin(ino);
    if (!file->gone) {
      file->pinned = true;
      file->since = Clock::now();
      limit_.AddFile();
    }
  }
  if (file->gone) {
    file->overlay->GiveUp();
    return true;
  }
  if (!file->HasMany() && file->opens > 0) return true;
  file->soon = file->soon || file->opens == 0;
  ready_.insert(ino);
  Pump(&calls);
  return true;
}

void WriteBack::SendSoon(uint64_t ino) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay == nullptr || !file->overlay->NeedsPut(false)) return;
  file->soon = true;
  ready_.insert(ino);
  Pump(&calls);
}

int WriteBack::TakeError(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  return file == nullptr ? 0 : std::exchange(file->error, 0);
}

void WriteBack::AddWaiter(uint64_t ino, For what, Time until, Then then, uint64_t changes, DeferredCalls* calls) {
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay == nullptr) {
    calls->Add([then = std::move(then)] { then(0); });
    return;
  }
  if (what != For::kIdle) file->retry = {};
  file->waiters.Add(what, until, std::move(then), changes);
  Settle(ino, calls);
  Pump(calls);
}

void WriteBack::When(uint64_t ino, For what, std::chrono::milliseconds most, Then then) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  AddWaiter(ino, what, Clock::now() + most, std::move(then), 0, &calls);
}

void WriteBack::WhenClosed(uint64_t ino, Then then) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay == nullptr || away_) {
    if (file != nullptr) file->soon = true;
    ready_.insert(ino);
    calls.Add([then = std::move(then)] { then(0); });
    return;
  }
  const uint64_t changes = file->overlay->changes();
  AddWaiter(ino, For::kClosed, Clock::now() + options_.patience, std::move(then), changes, &calls);
  ready_.insert(ino);
  Pump(&calls);
}

void WriteBack::Hold(const Held& held, Then then) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  const auto left = std::make_shared<int>(1);
  const auto mutex = std::make_shared<std::mutex>();
  const auto one = [left, mutex, then](int) {
    {
      const std::scoped_lock counting(*mutex);
      if (--*left > 0) return;
    }
    then(0);
  };
  std::set<uint64_t> waited;
  for (const uint64_t ino : held.files) {
    files_[ino].holds++;
    waited.insert(ino);
  }
  if (!held.below.empty()) {
    all_held_++;
    for (const auto& [ino, file] : files_) {
      std::string path;
      InodeTable::Doubt doubt;
      if (file.Busy() && inodes_->Ask(ino, &path, &doubt) && path.starts_with(held.below + "/")) waited.insert(ino);
    }
  }
  for (const uint64_t ino : held.stopped) {
    File* const file = FileOf(ino);
    if (file == nullptr || !file->putting || std::exchange(file->stop, true) || file->request == 0) continue;
    calls.Add([this, request = file->request] { uploader_.Stop(request); });
  }
  *left += static_cast<int>(waited.size());
  for (const uint64_t ino : waited) AddWaiter(ino, For::kIdle, Time::max(), one, 0, &calls);
  calls.Add([one] { one(0); });
}

void WriteBack::Release(const Held& held) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  if (!held.below.empty()) all_held_--;
  for (const uint64_t ino : held.files) {
    File* const file = FileOf(ino);
    if (file == nullptr) continue;
    file->holds--;
    if (file->overlay == nullptr && file->opens == 0 && file->holds == 0) {
      files_.erase(ino);
      continue;
    }
    ready_.insert(ino);
    Settle(ino, &calls);
  }
  if (!held.below.empty()) {
    for (const auto& [ino, file] : files_) ready_.insert(ino);
  }
  Pump(&calls);
}

void WriteBack::Gone(uint64_t ino) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  if (file == nullptr) return;
  file->gone = true;
  if (file->overlay != nullptr) file->overlay->GiveUp();
  Unpin(ino, file, &calls);
  Settle(ino, &calls);
  limit_.LetWrite(&calls);
}

void WriteBack::SetAway(bool away) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  away_ = away;
  for (auto& [ino, file] : files_) {
    file.retry = {};
    if (away) file.waiters.LetClose(&calls);
    if (file.overlay != nullptr) ready_.insert(ino);
  }
  Pump(&calls);
}

size_t WriteBack::Drain(std::chrono::milliseconds most) {
  {
    DeferredCalls calls;
    const std::scoped_lock lock(mutex_);
    draining_ = true;
    for (auto& [ino, file] : files_) {
      file.retry = {};
      ready_.insert(ino);
    }
    Pump(&calls);
  }
  std::unique_lock lock(mutex_);
  const auto unsent = [this] {
    return static_cast<size_t>(std::count_if(files_.begin(), files_.end(), [](const auto& one) {
      const File& file = one.second;
      return file.overlay != nullptr && !file.gone && (file.Busy() || file.overlay->NeedsPut(false));
    }));
  };
  sent_.wait_for(lock, most, [&] { return unsent() == 0; });
  draining_ = false;
  return unsent();
}

size_t WriteBack::LeaveUnsent() {
  std::vector<Upload> left;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [ino, file] : files_) {
      Upload upload{ino, file.overlay, {}, {}};
      InodeTable::Doubt doubt;
      if (file.overlay == nullptr || file.gone || !(file.Busy() || file.overlay->NeedsPut(false))) continue;
      if (inodes_->Ask(ino, &upload.path, &doubt)) left.push_back(std::move(upload));
    }
  }
  for (const Upload& upload : left) uploader_.Leave(upload);
  return left.size();
}

bool WriteBack::File::HasMany() const {
  return overlay->unsent_bytes() >= kManyBytes || overlay->unsent_ranges() >= kManyRanges;
}

bool WriteBack::File::IsDue(Time now, bool urgent) const {
  if (overlay == nullptr || Busy() || holds > 0 || gone || now < retry) return false;
  if (waiters.Has(For::kSynced)) return overlay->NeedsPut(true);
  if (!overlay->NeedsPut(false)) return false;
  return soon || urgent || waiters.Has(For::kClosed) || waiters.Has(For::kSent) || now - since >= kMostAge || HasMany();
}

void WriteBack::File::RetryLater() {
  backoff = std::clamp(backoff * 2, kFirstBackoff, kMostBackoff);
  retry = Clock::now() + backoff;
}

void WriteBack::Pump(DeferredCalls* calls) {
  if (away_ || all_held_ > 0) return;
  const Time now = Clock::now();
  const bool urgent = draining_ || limit_.HasWriters();
  while (!ready_.empty() && running_ < kMostRunning) {
    const uint64_t ino = *ready_.begin();
    ready_.erase(ready_.begin());
    File* const file = FileOf(ino);
    if (file != nullptr && file->IsDue(now, urgent)) Begin(ino, file, calls);
  }
}

void WriteBack::Begin(uint64_t ino, File* file, DeferredCalls* calls) {
  Upload upload{ino, file->overlay, {}, {}};
  InodeTable::Doubt doubt;
  if (!inodes_->Ask(ino, &upload.path, &doubt)) {
    file->gone = true;
    file->overlay->GiveUp();
    return Settle(ino, calls);
  }
  if (!file->overlay->Begin(file->waiters.Has(For::kSynced), file->most_bytes, &upload.put)) return;
  file->putting = true;
  file->stop = false;
  file->request = 0;
  running_++;
  calls->Add([this, upload = std::move(upload)] { Send(upload); });
}

void WriteBack::Send(const Upload& upload) {
  const uint32_t request = uploader_.Send(upload);
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(upload.ino);
  // The put may have ended already, and another may be pending.
  if (file == nullptr || file->overlay != upload.overlay || !file->putting || file->request != 0) return;
  file->request = request;
  if (file->stop) calls.Add([this, request] { uploader_.Stop(request); });
}

void WriteBack::PutEnded(const Upload& upload, int error) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  running_--;
  File* const file = FileOf(upload.ino);
  if (file == nullptr || file->overlay != upload.overlay) return;
  file->putting = false;
  const bool stopped = std::exchange(file->stop, false);
  if (file->gone) {
    upload.overlay->GiveUp();
  } else if (error == 0) {
    file->error = 0;
    file->backoff = {};
    file->since = Clock::now();
    file->most_bytes = file->most_bytes > UINT64_MAX / 2 ? UINT64_MAX : file->most_bytes * 2;
  } else if (!MayPass(error) && !stopped && !IsWorthKeeping(upload.put) && upload.overlay->unsent_bytes() == 0) {
    // Only a time or a sync was pending: the file there keeps its own time.
    if (error != ESTALE && error != ENOENT) file->waiters.Fail(error, &calls);
    upload.overlay->GiveUp();
    calls.Add([this, ino = upload.ino] { outside_.look(ino); });
  } else if (error == ESTALE || error == ENOENT) {
    file->moving = true;
  } else if (!stopped) {
    file->RetryLater();
    if (error == ETIMEDOUT) {
      uint64_t sent = 0;
      for (const auto& [offset, length] : upload.put.ranges) sent += length;
      file->most_bytes = std::max(sent / 2, kLeastPutBytes);
    }
    if (!away_) file->error = error;
    if (!MayPass(error)) file->waiters.Fail(error, &calls);
  }
  const bool moves = file->moving;
  Settle(upload.ino, &calls);
  limit_.LetWrite(&calls);
  Pump(&calls);
  if (moves)
    calls.Add([this, upload, error] { error == ESTALE ? uploader_.KeepBoth(upload) : uploader_.MakeAgain(upload); });
}

void WriteBack::Moved(const Upload& upload, int error) {
  DeferredCalls calls;
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(upload.ino);
  if (file == nullptr || file->overlay != upload.overlay) return;
  file->moving = false;
  file->soon = true;
  if (error != 0) {
    file->RetryLater();
    file->error = error == EEXIST ? EIO : error;
    if (!MayPass(error)) file->waiters.Fail(file->error, &calls);
  }
  ready_.insert(upload.ino);
  Settle(upload.ino, &calls);
  Pump(&calls);
}

// Ends waits that are fulfilled, and the overlay itself if it is clean.
void WriteBack::Settle(uint64_t ino, DeferredCalls* calls) {
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay == nullptr) return;
  const bool clean = file->gone || !file->overlay->NeedsPut(false);
  if (!file->Busy()) {
    if (!file->waiters.empty()) {
      const bool synced = file->gone || !file->overlay->NeedsPut(true);
      file->waiters.Fulfil({clean, synced, file->overlay->put_changes()}, calls);
    }
    if (clean) {
      file->soon = false;
      Unpin(ino, file, calls);
      sent_.notify_all();
    }
  }
  if (file->Busy() || !clean || file->opens > 0 || file->holds > 0 || !file->waiters.empty()) {
    if (!clean) ready_.insert(ino);
    return;
  }
  std::string path;
  InodeTable::Doubt doubt;
  if (!file->gone && inodes_->Ask(ino, &path, &doubt)) {
    if (file->overlay->NeedsPut(true)) unsynced_.Add(ino);
    calls->Add([this, ino, path, overlay = file->overlay] { outside_.settled(ino, path, overlay); });
  }
  files_.erase(ino);
  calls->Add([this, ino] { inodes_->Forget(ino, 1); });
}

void WriteBack::Run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, kTick, [this] { return ending_ || !jobs_.empty(); });
    {
      DeferredCalls calls;
      for (; !jobs_.empty(); jobs_.pop_front()) calls.Add(std::move(jobs_.front()));
      const Time now = Clock::now();
      const bool urgent = draining_ || limit_.HasWriters();
      for (auto& [ino, file] : files_) {
        if (file.overlay == nullptr) continue;
        file.waiters.Expire(now, file.error == 0 ? ETIMEDOUT : file.error, &calls);
        if (file.IsDue(now, urgent)) ready_.insert(ino);
      }
      limit_.Expire(now, &calls);
      limit_.LetWrite(&calls);
      Pump(&calls);
      lock.unlock();
    }
    lock.lock();
  }
}

}  // namespace keibi::mount
