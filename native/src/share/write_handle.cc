// SPDX-License-Identifier: MPL-2.0
#include "share/write_handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "core/whole_io.h"
#include "disk/beneath.h"
#include "disk/byte_range.h"
#include "manifest/dir_entry.h"
#include "platform/file_time.h"
#include "platform/write_guard.h"
#include "share/call_error.h"
#include "share/write_journal.h"

namespace keibi::share {

using core::Code;
using core::Status;
using disk::ByteRange;
using disk::FileVersion;

namespace {

// Each chunk leaves the stage once it is copied, so that a put needs little more space than its bytes.
constexpr uint64_t kCopyBytes = uint64_t{256} << 10;

FileVersion VersionOf(const struct stat& status) {
  return {static_cast<uint64_t>(status.st_size), platform::MtimeNs(status)};
}

// Whether a time that was set may read back as this one: some file systems store less precise times.
bool IsTimeKept(int64_t set_ns, int64_t kept_ns) {
  if (set_ns == kept_ns) return true;
  for (const int64_t tick_ns :
       {int64_t{100}, int64_t{1000}, int64_t{1'000'000}, platform::kNsPerSecond, 2 * platform::kNsPerSecond}) {
    if (kept_ns % tick_ns == 0 && set_ns > kept_ns && set_ns - kept_ns < tick_ns) return true;
  }
  return false;
}

// Lengthens a file but never shortens it: another program may do the same.
bool Lengthen(int fd, uint64_t size, bool alone) {
  if (!alone) {
    if (fallocate(fd, 0, static_cast<off_t>(size - 1), 1) == 0) return true;
    if (errno != EOPNOTSUPP) return false;
  }
  return ftruncate(fd, static_cast<off_t>(size)) == 0;
}

}  // namespace

Status WriteHandle::Write(uint64_t offset, const uint8_t* data, size_t bytes) {
  const std::shared_lock lock(mutex_);
  return fd_.valid() ? stage_.Write(offset, data, bytes) : Status::Of(Code::kCancelled);
}

Status WriteHandle::Commit(const Finish& finish, const MayChange& may_change, std::vector<uint8_t>* entry,
                           std::optional<FileVersion>* left) {
  const std::unique_lock lock(mutex_);
  if (!fd_.valid()) return Status::Of(Code::kCancelled);
  const Status status = CommitLocked(finish, may_change, entry, left);
  fd_.Close();
  return status;
}

Status WriteHandle::CommitLocked(const Finish& finish, const MayChange& may_change, std::vector<uint8_t>* entry,
                                 std::optional<FileVersion>* left) {
  struct stat now {};
  {
    const LockTable::Pause pause = locks_ ? locks_->PauseFor(inode) : LockTable::Pause();
    const platform::WriteGuard guard(fd_.get(), pause.others());
    if (pause.is_shared() || guard.locked_out()) return CallError(EBUSY);
    if (const Status status = HasPath(); !status.ok()) return status;
    if (fstat(fd_.get(), &now) != 0) return CallError();
    if (!may_change(VersionOf(now))) return Status::Of(Code::kSourceChanged);
    if (journal_) journal_->Begins(token, inode);
    const Status applied = Apply(finish, static_cast<uint64_t>(now.st_size), guard.alone());
    const Status measured = Measure(finish, applied, &now, left);
    if (journal_) journal_->Ends(token, left->value_or(FileVersion{}));
    if (!applied.ok()) return applied;
    if (!measured.ok()) return measured;
  }
  if (finish.sync && fsync(fd_.get()) != 0) return CallError();
  // If another file has just taken its name, the changed file is in no folder.
  if (const Status status = HasPath(); !status.ok()) return status;
  manifest::Entry written = manifest::EntryOf(now);
  written.name = name_;
  manifest::AppendEntry(entry, written);
  return Status::Ok();
}

// Bytes that another program has appended meanwhile stay, with their mtime: the result is then not our version.
Status WriteHandle::Measure(const Finish& finish, Status applied, struct stat* now,
                            std::optional<FileVersion>* left) const {
  if (applied.code == Code::kSourceChanged) return applied;
  const auto look = [&] { return fstat(fd_.get(), now) == 0; };
  const int64_t time_ns = finish.version.mtime_ns;
  if (!look()) return CallError();
  const bool whole = applied.ok() && VersionOf(*now).size == finish.version.size;
  if (whole && (futimens(fd_.get(), platform::FileTimes(time_ns).times) != 0 || !look())) return CallError();
  const FileVersion version = VersionOf(*now);
  const bool as_left = whole && version.size == finish.version.size && IsTimeKept(time_ns, version.mtime_ns);
  if (as_left || !applied.ok()) *left = version;
  return Status::Ok();
}

Status WriteHandle::HasPath() const {
  core::Fd folder, parent;
  std::string name;
  struct stat what {};
  Status status = disk::OpenFolder(folder_.path, &folder);
  if (status.ok()) status = disk::OpenParentBeneath(folder.get(), path_, &parent, &name);
  if (!status.ok()) return status.code == Code::kSourceMissing ? status : Status::Of(Code::kSourceChanged);
  if (fstatat(parent.get(), name.c_str(), &what, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Status::Of(Code::kSourceMissing) : CallError();
  const bool same = what.st_dev == inode.first && what.st_ino == inode.second;
  return Status::Of(same ? Code::kOk : Code::kSourceChanged);
}

// Extends the file first: the append's offset shows whether another program has appended too, before anything else
// changes.
Status WriteHandle::Apply(const Finish& finish, uint64_t size, bool alone) {
  const std::vector<ByteRange> ranges = stage_.ranges();
  if (!disk::AreInOrder(ranges, finish.version.size)) return CallError(EINVAL);
  if (journal_) {
    journal_->Writes(token);
    journal_->Leaves(token, finish.version);
  }
  if (const uint64_t holds = std::min(keep_, finish.version.size); size > holds) {
    if (ftruncate(fd_.get(), static_cast<off_t>(holds)) != 0) return CallError();
    size = holds;
  }
  uint64_t end = size;
  for (const auto& [offset, length] : ranges) {
    if (offset + length <= size) continue;
    const uint64_t from = std::max(offset, size);
    const ByteRange behind{from, offset + length - from};
    if (const Status status = Extend(behind, end, alone); !status.ok()) return status;
    end = offset + length;
  }
  if (finish.version.size > end && !Lengthen(fd_.get(), finish.version.size, alone)) return CallError();
  for (const auto& [offset, length] : ranges) {
    if (offset >= size) break;
    if (journal_) journal_->Writes(token);
    const ByteRange within{offset, std::min(length, size - offset)};
    if (const Status status = WriteInPlace(within); !status.ok()) return status;
  }
  return Status::Ok();
}

Status WriteHandle::Extend(const ByteRange& range, uint64_t size, bool alone) {
  return alone || range.offset != size ? WriteInPlace(range) : Append(range);
}

Status WriteHandle::WriteInPlace(const ByteRange& range) {
  std::vector<uint8_t> buffer(std::min(range.length, kCopyBytes));
  for (uint64_t done = 0; done < range.length;) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(buffer.size(), range.length - done));
    if (const Status status = stage_.Read(range.offset + done, buffer.data(), bytes); !status.ok()) return status;
    if (!core::WriteWhole(fd_.get(), buffer.data(), bytes, range.offset + done)) return CallError();
    stage_.Drop(range.offset + done, bytes);
    done += bytes;
  }
  return Status::Ok();
}

// Appends with O_APPEND: after another program's appended bytes, never over them. In that case our bytes are misplaced:
// kSourceChanged.
Status WriteHandle::Append(const ByteRange& range) {
  const int flags = fcntl(fd_.get(), F_GETFL);
  if (flags < 0 || fcntl(fd_.get(), F_SETFL, flags | O_APPEND) != 0) return CallError();
  Status status;
  std::vector<uint8_t> buffer(std::min(range.length, kCopyBytes));
  for (uint64_t done = 0; done < range.length && status.ok();) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(buffer.size(), range.length - done));
    status = stage_.Read(range.offset + done, buffer.data(), bytes);
    if (!status.ok()) break;
    const ssize_t written = write(fd_.get(), buffer.data(), bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      status = CallError();
      break;
    }
    stage_.Drop(range.offset + done, static_cast<size_t>(written));
    done += static_cast<uint64_t>(written);
    const off_t end = lseek(fd_.get(), 0, SEEK_CUR);
    if (end != static_cast<off_t>(range.offset + done)) status = Status::Of(Code::kSourceChanged);
  }
  if (fcntl(fd_.get(), F_SETFL, flags) != 0 && status.ok()) status = CallError();
  return status;
}

void WriteHandle::Close() {
  const std::unique_lock lock(mutex_);
  fd_.Close();
}

}  // namespace keibi::share
