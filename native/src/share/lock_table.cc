// SPDX-License-Identifier: MPL-2.0
#include "share/lock_table.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>

#include "disk/beneath.h"
#include "disk/scratch_file.h"
#include "manifest/dir_entry.h"
#include "manifest/entry.h"
#include "platform/file_time.h"
#include "platform/range_lock.h"
#include "share/call_error.h"
#include "share/folder_writes.h"

namespace keibi::share {
namespace {

using core::Code;
using core::Status;
using platform::LockKind;
using platform::LockSpan;

// Non-blocking: it may be a pipe.
constexpr int kLockFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
// A random first number, so that it rarely matches an earlier table's: a guest may still name that table's holders.
uint32_t FirstHolder() {
  uint32_t number = 0;
  (void)!getrandom(&number, sizeof number, 0);
  return number & 0x7fffffff;
}

int64_t ClockNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * platform::kNsPerSecond + now.tv_nsec;
}

// Two ticks of the clock that most systems use for file times.
int64_t TickNs() {
  timespec tick{};
#ifdef CLOCK_REALTIME_COARSE
  clock_getres(CLOCK_REALTIME_COARSE, &tick);
#endif
  return std::max<int64_t>(2 * tick.tv_nsec, 1'000'000);
}

// Whether each change of a file here gets a new mtime after the old one was read, however soon it comes, as since Linux
// 6.13.
bool HasFineTimes(int directory) {
  constexpr int kTurns = 16;
  const core::Fd file = disk::OpenDiskScratch(directory);
  struct stat now {};
  if (!file.valid() || write(file.get(), "0", 1) != 1 || fstat(file.get(), &now) != 0) return false;
  for (int turn = 0; turn < kTurns; turn++) {
    const int64_t before_ns = platform::MtimeNs(now);
    if (pwrite(file.get(), "1", 1, 0) != 1 || fstat(file.get(), &now) != 0 || platform::MtimeNs(now) == before_ns)
      return false;
  }
  return true;
}

// Describes the file once its next change is sure to get another mtime: a guest identifies content by mtime.
Status MeasureSettled(int fd, int64_t tick_ns, std::string_view name, std::vector<uint8_t>* entry) {
  // A program that changes the file all the time respects no lock.
  constexpr int kMostTries = 5;
  for (int tries = 1;; tries++) {
    struct stat now {};
    if (fstat(fd, &now) != 0) return CallError();
    const int64_t age_ns = ClockNs() - platform::MtimeNs(now);
    if (age_ns < 0 || age_ns >= tick_ns || tries == kMostTries) {
      manifest::Entry measured = manifest::EntryOf(now);
      measured.name = name;
      manifest::AppendEntry(entry, measured);
      return Status::Ok();
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(tick_ns - age_ns));
  }
}

}  // namespace

LockTable::LockTable(ServedFolder folder, std::shared_ptr<LockRoom> room)
    : folder_(std::move(folder)), room_(std::move(room)), last_(FirstHolder()) {}

Status LockTable::Open(std::string_view path, core::Fd* file, Inode* inode, core::Fd* directory) const {
  if (!IsSharePath(path)) return Status::Of(Code::kPathRefused);
  if (!folder_.only.empty() && path != folder_.only) return Status::Of(Code::kSourceMissing);
  core::Fd own, parent;
  std::string name;
  Status status = disk::OpenFolder(folder_.path, &own);
  if (status.ok()) status = disk::OpenParentBeneath(own.get(), path, &parent, &name);
  if (!status.ok()) return status.code == Code::kSourceMissing ? status : AsCall(status);
  // A user who may only read the file may still lock it for reading.
  for (const int how : {O_RDWR, O_RDONLY}) {
    *file = core::Fd(disk::OpenWhenFree(parent.get(), name, how | kLockFlags));
    if (file->valid() || (errno != EACCES && errno != EROFS && errno != ETXTBSY)) break;
  }
  if (!file->valid()) return Status::FromErrno(errno == ENOENT ? Code::kSourceMissing : Code::kCallFailed);
  struct stat what {};
  if (fstat(file->get(), &what) != 0) return CallError();
  if (!S_ISREG(what.st_mode)) return CallError(EINVAL);
  *inode = {what.st_dev, what.st_ino};
  *directory = std::move(parent);
  return Status::Ok();
}

int64_t LockTable::TickOf(dev_t disk, int directory) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = ticks_.find(disk); known != ticks_.end()) return known->second;
  }
  const int64_t tick_ns = HasFineTimes(directory) ? 0 : TickNs();
  const std::scoped_lock lock(mutex_);
  ticks_[disk] = tick_ns;
  return tick_ns;
}

std::map<uint32_t, LockTable::Holder>::iterator LockTable::Find(const LockOwner& owner, const Inode& inode) {
  auto holder = holders_.begin();
  while (holder != holders_.end() && (holder->second.owner != owner || holder->second.inode != inode)) ++holder;
  return holder;
}

int LockTable::Apply(Holder* holder, const LockSpan& span, LockKind kind) {
  const int fd = holder->file.get();
  if (const int error = holder->owner.whole ? platform::LockWhole(fd, kind) : platform::LockSpanOf(fd, span, kind);
      error != 0)
    return error;
  const size_t before = holder->ranges.count();
  holder->ranges.Set(holder->owner.whole ? LockSpan{} : span, kind);
  ranges_ += holder->ranges.count() - before;
  room_->ranges += holder->ranges.count() - before;
  return 0;
}

void LockTable::EraseIfFree(std::map<uint32_t, Holder>::iterator holder) {
  if (!holder->second.ranges.empty()) return;
  holders_.erase(holder);
  room_->files--;
}

Status LockTable::Lock(std::string_view path, const WantedLock& wanted, GrantedLock* granted) {
  core::Fd file, directory;
  Inode inode;
  if (const Status status = Open(path, &file, &inode, &directory); !status.ok()) return status;
  const int64_t tick_ns = TickOf(inode.first, directory.get());
  // A duplicate to measure with: the holder's own descriptor may be closed meanwhile.
  const core::Fd measured(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return Status::Of(Code::kCancelled);
    auto holder = Find(wanted.owner, inode);
    // One lock may split another, so that there are two more ranges.
    const bool full = ranges_ + 2 > kMostRanges || room_->ranges + 2 > kMostRangesOfShare;
    const bool crowded =
        holder == holders_.end() && (holders_.size() >= kMostFiles || room_->files >= kMostFilesOfShare);
    if (full || crowded) {
      room_->refused++;
      return CallError(ENOLCK);
    }
    if (holder == holders_.end()) {
      while (last_ == 0 || holders_.contains(last_)) last_++;
      holder = holders_.emplace(last_++, Holder{wanted.owner, inode, std::move(file), {}}).first;
      room_->files++;
    }
    granted->holder = holder->first;
    if (const int error = Apply(&holder->second, wanted.span, wanted.kind); error != 0) {
      if (holder->second.ranges.empty()) granted->holder = 0;
      EraseIfFree(holder);
      return error == EAGAIN ? Status::Ok() : CallError(error);
    }
  }
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const Status status = MeasureSettled(measured.get(), tick_ns, name, &granted->entry);
  if (!status.ok()) Unlock(granted->holder, wanted.span);
  return status;
}

bool LockTable::Unlock(uint32_t holder, const LockSpan& span) {
  const std::scoped_lock lock(mutex_);
  const auto found = holders_.find(holder);
  if (found == holders_.end()) return false;
  Apply(&found->second, span, LockKind::kNone);
  const bool left = !found->second.ranges.empty();
  EraseIfFree(found);
  return left;
}

Status LockTable::Test(std::string_view path, const WantedLock& wanted,
                       std::optional<platform::LockRanges::Range>* found) {
  core::Fd file, directory;
  Inode inode;
  if (const Status status = Open(path, &file, &inode, &directory); !status.ok()) return status;
  const std::scoped_lock lock(mutex_);
  const auto holder = Find(wanted.owner, inode);
  const int fd = holder == holders_.end() ? file.get() : holder->second.file.get();
  *found = platform::FindLock(fd, wanted.span, wanted.kind);
  return Status::Ok();
}

void LockTable::Close() {
  std::map<uint32_t, Holder> holders;
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  room_->files -= holders_.size();
  room_->ranges -= ranges_;
  ranges_ = 0;
  holders.swap(holders_);
}

LockTable::Pause LockTable::PauseFor(const Inode& inode) {
  std::unique_lock lock(mutex_);
  std::vector<LockSpan> own;
  int readers = 0;
  bool is_shared = false;
  for (const auto& [number, holder] : holders_) {
    if (holder.inode != inode || holder.owner.whole) continue;
    bool reads = false;
    for (const auto& [span, kind] : holder.ranges.Within({})) {
      own.push_back(span);
      if (kind != LockKind::kShared) continue;
      reads = true;
      is_shared = is_shared || platform::FindLock(holder.file.get(), span, LockKind::kExclusive).has_value();
    }
    readers += reads ? 1 : 0;
  }
  // With two readers of the same guest, each would find the other one's lock.
  return {std::move(lock), platform::SpansBeside(std::move(own)), is_shared && readers == 1};
}

}  // namespace keibi::share
