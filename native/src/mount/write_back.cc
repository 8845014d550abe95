// SPDX-License-Identifier: MPL-2.0
#include "mount/write_back.h"

#include <algorithm>
#include <cerrno>
#include <utility>

// When overlays are put. upload.cc has how, and handles the results.
namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kMostAge{rules::kPutAgeMs};  // of unsent data
constexpr uint64_t kManyBytes = rules::kPutBytes;
constexpr size_t kManyRanges = rules::kPutRanges;
constexpr size_t kMostDrafts = rules::kMostDirtyFiles;  // each takes up to three descriptors
constexpr uint32_t kMostRunning = 16;

}  // namespace

WriteBack::WriteBack(Options options, InodeTable* inodes, DaemonLink* link, Outside outside)
    : options_(std::move(options)), inodes_(inodes), link_(link), outside_(std::move(outside)), thread_([this] {
        Run();
      }) {}

WriteBack::~WriteBack() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WriteBack::Call(Calls* calls) {
  for (const auto& call : *calls) call();
  calls->clear();
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
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(ino);
    if (file == nullptr) return;
    if (file->opens > 0) file->opens--;
    if (file->overlay == nullptr && file->opens == 0 && file->holds == 0) {
      files_.erase(ino);
      return;
    }
    file->soon = true;
    Look(ino, &calls);
    Pump(&calls);
  }
  Call(&calls);
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

int WriteBack::Make(uint64_t ino, const Version& base, std::shared_ptr<stream::CacheFile> content,
                    std::shared_ptr<OverlayFile>* overlay) {
  const std::scoped_lock lock(mutex_);
  File& file = files_[ino];
  if (file.overlay == nullptr) {
    if (const int error = OverlayFile::Open(options_.directory, base, std::move(content), &dirty_, &file.overlay);
        error != 0) {
      if (file.opens == 0) files_.erase(ino);
      return error;
    }
    inodes_->Hold(ino);
    if (unsynced_.erase(ino) > 0) file.overlay->SetUnsynced();
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

bool WriteBack::Full() const { return dirty_ >= options_.most_dirty_bytes || pins_ >= kMostDrafts; }

bool WriteBack::IsFull() {
  const std::scoped_lock lock(mutex_);
  return !stalled_.empty() || Full();
}

void WriteBack::WhenRoom(Then then) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    stalled_.emplace_back(Clock::now() + options_.patience, std::move(then));
    for (const auto& [ino, file] : files_) {
      if (file.overlay != nullptr) ready_.insert(ino);
    }
    LetWrite(&calls);
    Pump(&calls);
  }
  Call(&calls);
}

bool WriteBack::Pin(uint64_t ino, File* file) {
  if (!inodes_->Pin(ino)) return false;
  file->pinned = true;
  file->since = Clock::now();
  pins_++;
  return true;
}

void WriteBack::Unpin(uint64_t ino, File* file, Calls* calls) {
  if (!std::exchange(file->pinned, false)) return;
  pins_--;
  if (inodes_->Unpin(ino)) calls->push_back([this, ino] { outside_.look(ino); });
}

void WriteBack::LetWrite(Calls* calls) {
  while (!stalled_.empty() && !Full()) {
    calls->push_back([then = std::move(stalled_.front().second)] { then(0); });
    stalled_.pop_front();
  }
}

bool WriteBack::Changed(uint64_t ino, const std::shared_ptr<OverlayFile>& overlay) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(ino);
    if (file == nullptr || file->overlay != overlay) return false;
    if (!file->gone && !file->pinned) file->gone = !Pin(ino, file);
    if (file->gone) {
      file->overlay->GiveUp();
      return true;
    }
    const bool many = file->overlay->unsent_bytes() >= kManyBytes || file->overlay->unsent_ranges() >= kManyRanges;
    if (!many && file->opens > 0) return true;
    file->soon = file->soon || file->opens == 0;
    ready_.insert(ino);
    Pump(&calls);
  }
  Call(&calls);
  return true;
}

void WriteBack::SendSoon(uint64_t ino) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(ino);
    if (file == nullptr || file->overlay == nullptr || !file->overlay->NeedsPut(false)) return;
    file->soon = true;
    ready_.insert(ino);
    Pump(&calls);
  }
  Call(&calls);
}

int WriteBack::TakeError(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  File* const file = FileOf(ino);
  return file == nullptr ? 0 : std::exchange(file->error, 0);
}

void WriteBack::AddWaiter(uint64_t ino, Waiter waiter, Calls* calls) {
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay == nullptr) {
    calls->push_back([then = std::move(waiter.then)] { then(0); });
    return;
  }
  if (waiter.what != For::kIdle) file->retry = {};
  file->waiters.push_back(std::move(waiter));
  Look(ino, calls);
  Pump(calls);
}

void WriteBack::Sync(uint64_t ino, Then then) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    AddWaiter(ino, {For::kSynced, Clock::now() + options_.patience, std::move(then)}, &calls);
  }
  Call(&calls);
}

void WriteBack::WhenSent(uint64_t ino, std::chrono::milliseconds most, Then then) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    AddWaiter(ino, {For::kSent, Clock::now() + most, std::move(then)}, &calls);
  }
  Call(&calls);
}

void WriteBack::WhenIdle(uint64_t ino, Then then) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    AddWaiter(ino, {For::kIdle, Time::max(), std::move(then)}, &calls);
  }
  Call(&calls);
}

void WriteBack::Stop(File* file, Calls* calls) {
  if (!file->putting || file->stop) return;
  file->stop = true;
  if (file->request == 0) return;
  calls->push_back([this, request = file->request] { link_->Notify(Type::kStop, message::Stop{request}.Body()); });
}

void WriteBack::Hold(const Held& held, Then then) {
  Calls calls;
  {
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
      if (File* const file = FileOf(ino); file != nullptr) Stop(file, &calls);
    }
    *left += static_cast<int>(waited.size());
    for (const uint64_t ino : waited) AddWaiter(ino, {For::kIdle, Time::max(), one}, &calls);
    calls.push_back([one] { one(0); });
  }
  Call(&calls);
}

void WriteBack::Release(const Held& held) {
  Calls calls;
  {
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
      Look(ino, &calls);
    }
    if (!held.below.empty()) {
      for (const auto& [ino, file] : files_) ready_.insert(ino);
    }
    Pump(&calls);
  }
  Call(&calls);
}

bool WriteBack::IsUnsynced(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  return unsynced_.contains(ino);
}

void WriteBack::Forget(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  unsynced_.erase(ino);
}

void WriteBack::Gone(uint64_t ino) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(ino);
    if (file == nullptr) return;
    file->gone = true;
    if (file->overlay != nullptr) file->overlay->GiveUp();
    Unpin(ino, file, &calls);
    Look(ino, &calls);
    LetWrite(&calls);
  }
  Call(&calls);
}

void WriteBack::SetAway(bool away) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    away_ = away;
    for (auto& [ino, file] : files_) {
      file.retry = {};
      if (away) LetClose(&file, &calls);
      if (file.overlay != nullptr) ready_.insert(ino);
    }
    Pump(&calls);
  }
  Call(&calls);
}

size_t WriteBack::Drain(std::chrono::milliseconds most) {
  Calls calls;
  std::unique_lock lock(mutex_);
  draining_ = true;
  for (auto& [ino, file] : files_) {
    file.retry = {};
    ready_.insert(ino);
  }
  Pump(&calls);
  lock.unlock();
  Call(&calls);
  lock.lock();
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

bool WriteBack::ShouldPut(const File& file, Time now) const {
  if (file.overlay == nullptr || file.Busy() || file.holds > 0 || file.gone || now < file.retry) return false;
  const auto waits = [&](For what) {
    return std::any_of(file.waiters.begin(), file.waiters.end(), [&](const Waiter& one) { return one.what == what; });
  };
  if (waits(For::kSynced)) return file.overlay->NeedsPut(true);
  if (!file.overlay->NeedsPut(false)) return false;
  return file.soon || waits(For::kClosed) || draining_ || !stalled_.empty() || now - file.since >= kMostAge ||
         waits(For::kSent) || file.overlay->unsent_bytes() >= kManyBytes ||
         file.overlay->unsent_ranges() >= kManyRanges;
}

void WriteBack::Pump(Calls* calls) {
  if (away_ || all_held_ > 0) return;
  const Time now = Clock::now();
  while (!ready_.empty() && running_ < kMostRunning) {
    const uint64_t ino = *ready_.begin();
    ready_.erase(ready_.begin());
    File* const file = FileOf(ino);
    if (file != nullptr && ShouldPut(*file, now)) Begin(ino, file, calls);
  }
}

bool WriteBack::Begin(uint64_t ino, File* file, Calls* calls) {
  Work work{ino, file->overlay, {}, {}};
  InodeTable::Doubt doubt;
  if (!inodes_->Ask(ino, &work.path, &doubt)) {
    file->gone = true;
    file->overlay->GiveUp();
    Look(ino, calls);
    return false;
  }
  const bool sync = std::any_of(file->waiters.begin(), file->waiters.end(),
                                [](const Waiter& one) { return one.what == For::kSynced; });
  if (!file->overlay->Begin(sync, file->most_bytes, &work.put)) return false;
  file->putting = true;
  file->stop = false;
  file->request = 0;
  running_++;
  calls->push_back([this, work = std::move(work)]() mutable { Send(std::move(work)); });
  return true;
}

// Ends waits that are fulfilled, and the overlay itself if it is clean.
void WriteBack::Look(uint64_t ino, Calls* calls) {
  File* const file = FileOf(ino);
  if (file == nullptr || file->overlay == nullptr) return;
  const bool clean = file->gone || !file->overlay->NeedsPut(false);
  if (!file->Busy()) {
    std::vector<Waiter> left;
    for (Waiter& one : file->waiters) {
      const bool over = one.what == For::kIdle || (one.what == For::kSent && clean) ||
                        (one.what == For::kClosed && (clean || file->overlay->put_changes() >= one.changes)) ||
                        (one.what == For::kSynced && (file->gone || !file->overlay->NeedsPut(true)));
      if (over) {
        calls->push_back([then = std::move(one.then)] { then(0); });
      } else {
        left.push_back(std::move(one));
      }
    }
    file->waiters = std::move(left);
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
    if (file->overlay->NeedsPut(true)) unsynced_.insert(ino);
    calls->push_back([this, ino, path, overlay = file->overlay] { outside_.settled(ino, path, overlay); });
  }
  files_.erase(ino);
  calls->push_back([this, ino] { inodes_->Forget(ino, 1); });
}

void WriteBack::FinishWaiters(File* file, int error, Calls* calls) {
  std::vector<Waiter> left;
  for (Waiter& one : file->waiters) {
    if (one.what == For::kIdle) {
      left.push_back(std::move(one));
    } else {
      calls->push_back([then = std::move(one.then), error] { then(error); });
    }
  }
  file->waiters = std::move(left);
}

void WriteBack::Run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, kTick, [this] { return ending_ || !jobs_.empty(); });
    Calls calls;
    for (; !jobs_.empty(); jobs_.pop_front()) calls.push_back(std::move(jobs_.front()));
    const Time now = Clock::now();
    for (auto& [ino, file] : files_) {
      if (file.overlay == nullptr) continue;
      std::vector<Waiter> left;
      for (Waiter& one : file.waiters) {
        if (now < one.until) {
          left.push_back(std::move(one));
          continue;
        }
        const int error = file.error == 0 ? ETIMEDOUT : file.error;
        calls.push_back([then = std::move(one.then), error] { then(error); });
      }
      file.waiters = std::move(left);
      if (ShouldPut(file, now)) ready_.insert(ino);
    }
    while (!stalled_.empty() && now >= stalled_.front().first) {
      calls.push_back([then = std::move(stalled_.front().second)] { then(ETIMEDOUT); });
      stalled_.pop_front();
    }
    LetWrite(&calls);
    Pump(&calls);
    lock.unlock();
    Call(&calls);
    lock.lock();
  }
}

}  // namespace keibi::mount
