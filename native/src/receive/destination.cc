// SPDX-License-Identifier: MPL-2.0
#include "receive/destination.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <vector>

#include "core/limits.h"
#include "disk/beneath.h"
#include "platform/disk.h"
#include "platform/file_time.h"
#include "platform/rename.h"
#include "platform/write_at.h"
#include "receive/collision_name.h"

namespace keibi::receive {

using core::Code;
using core::Status;
using disk::SharedFd;
using manifest::Entry;
using manifest::EntryType;

namespace {

constexpr int kMostCollisions = 10'000;
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// After a power cut a name, a size and a time can be on the disk before all bytes are. Missing bytes show as a hole,
// which the sender's file does not have.
bool LacksBytes(int parent, const std::string& name, const struct stat& status, const Entry& entry) {
  constexpr uint64_t kBlockBytes = 512;  // of st_blocks (stat(3type))
  const bool full = static_cast<uint64_t>(status.st_blocks) * kBlockBytes >= entry.size;
  if (full || entry.sparse || entry.size <= core::kChunkBytes) return false;
  const core::Fd fd(openat(parent, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  return fd.valid() && platform::HasHole(fd.get(), entry.size);
}

// Whether the file or symlink at `name` already matches the entry.
bool IsSame(int parent, const std::string& name, const struct stat& status, const Entry& entry) {
  if (entry.type == EntryType::kFile) {
    return S_ISREG(status.st_mode) && static_cast<uint64_t>(status.st_size) == entry.size &&
           platform::MtimeNs(status) == entry.mtime_ns && !LacksBytes(parent, name, status, entry);
  }
  if (entry.type != EntryType::kSymlink || !S_ISLNK(status.st_mode)) return false;
  char target[core::kMaxTargetBytes + 1];
  const ssize_t length = readlinkat(parent, name.c_str(), target, sizeof target);
  return length >= 0 && std::string_view(target, static_cast<size_t>(length)) == entry.target;
}

// The mtime that marks a file as damaged: nothing else sets it, and an edit replaces it.
constexpr int64_t kDamagedMtimeNs = 1;

bool IsMarkedDamaged(const struct stat& status, const Entry& entry) {
  return entry.type == EntryType::kFile && S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) == entry.size && platform::MtimeNs(status) == kDamagedMtimeNs;
}

Status CannotUse() {
  return platform::WriteError(errno == EEXIST ? Code::kDestinationExists : Code::kDestinationUnusable);
}

}  // namespace

Destination::Destination(const manifest::EntryTable& table, Collision policy)
    : table_(table),
      policy_(policy),
      dirs_(
          table,
          [this](uint32_t, const Entry& entry, core::Fd* fd) {
            *fd = core::Fd(openat(folder_.get(), std::string(entry.name).c_str(), kDirectoryFlags | O_NOFOLLOW));
            return fd->valid() ? Status::Ok() : Status::FromErrno(Code::kDestinationUnusable);
          },
          Code::kDestinationUnusable) {}

Status Destination::Open(const std::string& path, const std::string& root) {
  const Status opened = root.empty() ? OpenNamed(path) : OpenBelow(root, path);
  if (!opened.ok()) return opened;
  return faccessat(folder_.get(), ".", W_OK | X_OK, AT_EACCESS) == 0 ? Status::Ok()
                                                                     : Status::FromErrno(Code::kDestinationUnusable);
}

Status Destination::OpenNamed(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0777) != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS &&
        errno != EACCES)
      return CannotUse();
    if (slash == std::string::npos) break;
  }
  folder_ = core::Fd(open(path.c_str(), kDirectoryFlags));
  return folder_.valid() ? Status::Ok() : Status::FromErrno(Code::kDestinationUnusable);
}

Status Destination::OpenBelow(const std::string& root, const std::string& path) {
  core::Fd folder(open(root.c_str(), kDirectoryFlags | O_NOFOLLOW));
  if (!folder.valid()) return Status::FromErrno(Code::kDestinationUnusable);
  const std::string_view inside(path);
  if (!inside.starts_with(root)) return Status::Of(Code::kFolderNotAllowed, EXDEV);
  std::string_view rest = inside.substr(root.size());
  const bool bounded = rest.empty() || root.ends_with('/') || rest.starts_with('/');
  if (!bounded) return Status::Of(Code::kFolderNotAllowed, EXDEV);
  if (rest.starts_with('/')) rest.remove_prefix(1);
  return disk::MakeBeneath(folder.get(), rest, &folder_);
}

Status Destination::ParentOf(const Entry& entry, int* fd, SharedFd* keep) {
  if (entry.parent == manifest::kTop) {
    *fd = folder_.get();
    return Status::Ok();
  }
  const Status status = dirs_.Get(entry.parent, keep);
  if (status.ok()) *fd = (*keep)->get();
  return status;
}

Status Destination::Examine(uint32_t index, const Entry& entry, Collision policy, Found* found) {
  int parent;
  SharedFd keep;
  if (const Status status = ParentOf(entry, &parent, &keep); !status.ok()) return status;
  struct stat status;
  const std::string name(entry.name);
  *found = Found::kAbsent;
  if (fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status::Ok() : Status::FromErrno(Code::kDestinationUnusable);
  }
  if (IsSame(parent, name, status, entry)) {
    *found = Found::kUpToDate;
    return Status::Ok();
  }
  if (IsMarkedDamaged(status, entry)) {
    LetReplace(index);
    return Status::Ok();
  }
  switch (policy) {
    case Collision::kAsk:
      *found = Found::kCollides;
      return Status::Ok();
    case Collision::kSkip:
      *found = Found::kSkipped;
      return Status::Ok();
    case Collision::kOverwrite: {
      if (S_ISDIR(status.st_mode)) return Status::Of(Code::kDestinationExists, EISDIR);
      LetReplace(index);
      return Status::Ok();
    }
    case Collision::kRename:
      return FreeName(parent, index, entry, found);
  }
  return Status::Of(Code::kInternal);
}

// Tries `name (1).ext`, `name (2).ext`, … until one is free, or an earlier run already gave it to this very content.
Status Destination::FreeName(int parent, uint32_t index, const Entry& entry, Found* found) {
  for (int i = 1; i <= kMostCollisions; i++) {
    const std::string name = CollisionName(entry.name, i);
    struct stat status;
    const bool exists = fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists && errno != ENOENT) return Status::FromErrno(Code::kDestinationUnusable);
    const bool same = exists && IsSame(parent, name, status, entry);
    const bool damaged = exists && !same && IsMarkedDamaged(status, entry);
    if (exists && !same && !damaged) continue;
    if (damaged) LetReplace(index);
    *found = same ? Found::kUpToDate : Found::kAbsent;
    const std::scoped_lock lock(mutex_);
    renamed_[index] = name;
    return Status::Ok();
  }
  return Status::Of(Code::kDestinationExists, EEXIST);
}

Status Destination::MakeDirectory(uint32_t index, const Entry& entry, Collision policy) {
  int parent;
  SharedFd keep;
  if (const Status status = ParentOf(entry, &parent, &keep); !status.ok()) return status;
  std::string name(entry.name);
  for (int i = 0; i <= kMostCollisions; i++) {
    if (i > 0) name = CollisionName(entry.name, i);
    // Writable for us until FinishDirectories sets the sender's mode.
    const bool fresh = mkdirat(parent, name.c_str(), entry.mode | 0700) == 0;
    if (!fresh && errno != EEXIST) return platform::WriteError(Code::kDestinationUnusable);
    struct stat status;
    if (!fresh && fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return Status::FromErrno(Code::kDestinationUnusable);
    if (fresh || S_ISDIR(status.st_mode)) {
      if (!fresh && (status.st_mode & 0700) != 0700) {
        if (const Status opened = OpenToWrite(parent, name); !opened.ok()) return opened;
      }
      if (i == 0) return Status::Ok();
      dirs_.Rename(index, name);
      const std::scoped_lock lock(mutex_);
      renamed_[index] = name;
      return Status::Ok();
    }
    if (policy != Collision::kRename) return Status::Of(Code::kDestinationExists, ENOTDIR);
  }
  return Status::Of(Code::kDestinationExists, EEXIST);
}

// Makes a directory writable that an earlier run finished as read-only; FinishDirectories restores its mode.
Status Destination::OpenToWrite(int parent, const std::string& name) {
  const core::Fd directory(openat(parent, name.c_str(), kDirectoryFlags | O_NOFOLLOW));
  struct stat status;
  if (!directory.valid() || fstat(directory.get(), &status) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  if (status.st_uid == geteuid()) (void)fchmod(directory.get(), (status.st_mode & 07777) | 0700);
  return Status::Ok();
}

Status Destination::MakeSymlink(uint32_t index, const Entry& entry, const Staging& staging) {
  const std::string staged = "s-" + std::to_string(index);
  if (symlinkat(std::string(entry.target).c_str(), staging.fd(), staged.c_str()) != 0)
    return platform::WriteError(Code::kDestinationUnusable);
  utimensat(staging.fd(), staged.c_str(), platform::FileTimes(entry.mtime_ns).times, AT_SYMLINK_NOFOLLOW);
  const Status status = Place(index, entry, staging, staged);
  if (!status.ok()) staging.Remove(staged);
  return status;
}

Status Destination::Place(uint32_t index, const Entry& entry, const Staging& staging, const std::string& staged) {
  int parent;
  SharedFd keep;
  if (const Status status = ParentOf(entry, &parent, &keep); !status.ok()) return status;
  const bool replace = MayReplace(index);
  const int from = staging.fd();
  if (replace)
    return renameat(from, staged.c_str(), parent, NameOf(index, entry).c_str()) == 0 ? Status::Ok() : CannotUse();
  // Since the plan another program or another renamed entry may have taken the name.
  while (!platform::RenameNew(from, staged, parent, NameOf(index, entry))) {
    if (errno != EEXIST || !MayRename(index)) return CannotUse();
    Found found;
    if (const Status status = FreeName(parent, index, entry, &found); !status.ok()) return status;
    if (found != Found::kUpToDate) continue;
    staging.Remove(staged);
    return Status::Ok();
  }
  return Status::Ok();
}

void Destination::FinishDirectories(const std::function<void(uint32_t, Status)>& on_failed) {
  for (uint32_t index = table_.size(); index-- > 0;) {
    Entry entry;
    SharedFd directory;
    if (!table_.Find(index, &entry) || entry.type != EntryType::kDirectory) continue;
    Status status = dirs_.Get(index, &directory);
    if (status.ok() && (futimens(directory->get(), platform::FileTimes(entry.mtime_ns).times) != 0 ||
                        fchmod(directory->get(), entry.mode) != 0)) {
      status = Status::FromErrno(Code::kDestinationUnusable);
    }
    if (!status.ok()) on_failed(index, status);
  }
}

std::string Destination::NameOf(uint32_t index, const Entry& entry) {
  const std::scoped_lock lock(mutex_);
  const auto renamed = renamed_.find(index);
  return renamed == renamed_.end() ? std::string(entry.name) : renamed->second;
}

bool Destination::MayReplace(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  return replacing_.contains(index);
}

void Destination::LetReplace(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  replacing_.insert(index);
}

bool Destination::MayRename(uint32_t index) {
  if (policy_ == Collision::kRename) return true;
  const std::scoped_lock lock(mutex_);
  return renamed_.contains(index);
}

std::string Destination::FinalPath(uint32_t index) {
  std::string path;
  for (Entry entry; index != manifest::kTop && table_.Find(index, &entry); index = entry.parent) {
    path = path.empty() ? NameOf(index, entry) : NameOf(index, entry) + "/" + path;
  }
  return path;
}

Status Destination::MarkDamaged(uint32_t index, const Entry& entry) {
  core::Fd fd;
  if (const Status status = OpenPlaced(index, entry, &fd); !status.ok()) return status;
  if (const Status status = platform::SetMtime(fd.get(), kDamagedMtimeNs); !status.ok()) return status;
  LetReplace(index);
  return Status::Ok();
}

Status Destination::OpenPlaced(uint32_t index, const Entry& entry, core::Fd* fd) {
  int parent;
  SharedFd keep;
  if (const Status status = ParentOf(entry, &parent, &keep); !status.ok()) return status;
  *fd = core::Fd(openat(parent, NameOf(index, entry).c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  return fd->valid() ? Status::Ok() : Status::FromErrno(Code::kDestinationUnusable);
}

}  // namespace keibi::receive
