// SPDX-License-Identifier: MPL-2.0
#include "share/write_ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "disk/beneath.h"
#include "platform/file_time.h"
#include "platform/write_guard.h"
#include "share/call_error.h"
#include "share/folder_writes.h"

namespace keibi::share {
namespace {

using core::Code;
using core::Status;
using disk::FileVersion;

// Non-blocking: it may be a pipe.
constexpr int kFlags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

// A file that its owner may not write still belongs to the owner: a program may have opened it before its mode changed.
core::Fd OpenOwn(int parent, const std::string& name) {
  struct stat what;
  if (fstatat(parent, name.c_str(), &what, AT_SYMLINK_NOFOLLOW) != 0) return core::Fd();
  if (!S_ISREG(what.st_mode) || what.st_uid != geteuid()) {
    errno = EACCES;
    return core::Fd();
  }
  if (fchmodat(parent, name.c_str(), (what.st_mode & 0777) | S_IWUSR, AT_SYMLINK_NOFOLLOW) != 0) return core::Fd();
  core::Fd fd(disk::OpenWhenFree(parent, name, kFlags));
  struct stat opened;
  const bool same = fd.valid() && fstat(fd.get(), &opened) == 0 && opened.st_ino == what.st_ino;
  if (same && fchmod(fd.get(), what.st_mode & 0777) == 0) return fd;
  errno = EACCES;
  return core::Fd();
}

Status OpenToWrite(const ServedFolder& folder, std::string_view path, WriteHandle::Place* place) {
  if (!IsSharePath(path)) return Status::Of(Code::kPathRefused);
  if (!folder.only.empty() && path != folder.only) return Status::Of(Code::kSourceMissing);
  core::Fd own;
  Status status = disk::OpenFolder(folder.path, &own);
  if (status.ok()) status = disk::OpenParentBeneath(own.get(), path, &place->parent, &place->name);
  if (!status.ok()) return status.code == Code::kSourceMissing ? status : AsCall(status);
  const int parent = place->parent.get();
  place->file = core::Fd(disk::OpenWhenFree(parent, place->name, kFlags));
  if (!place->file.valid() && errno == EACCES) place->file = OpenOwn(parent, place->name);
  if (!place->file.valid())
    return errno == ENOENT ? Status::FromErrno(Code::kSourceMissing) : Status::FromErrno(Code::kCallFailed);
  struct stat now;
  if (fstat(place->file.get(), &now) != 0) return Status::FromErrno(Code::kCallFailed);
  if (!S_ISREG(now.st_mode)) return CallError(EINVAL);
  place->folder = folder;
  place->path = path;
  place->inode = {now.st_dev, now.st_ino};
  return Status::Ok();
}

}  // namespace

Status WriteLedger::Open(const ServedFolder& folder, std::string_view path, const PutBase& base,
                         std::shared_ptr<WriteHandle>* file, const std::shared_ptr<LockTable>& locks) {
  if (const auto before = OpenOf(base.token)) Close(before);
  WriteHandle::Place place;
  if (const Status status = OpenToWrite(folder, path, &place); !status.ok()) return status;
  {
    const LockTable::Pause pause = locks ? locks->PauseFor(place.inode) : LockTable::Pause();
    if (pause.is_shared() || platform::WriteGuard::IsLocked(place.file.get(), pause.others())) return CallError(EBUSY);
  }
  const int of = place.file.get();  // valid while `opened` is not closed, and only we know it yet
  const auto opened = std::make_shared<WriteHandle>(std::move(place), base.token, base.keep, journal_, locks);
  const std::scoped_lock lock(mutex_);
  if (open_.contains(base.token) || writers_.contains(opened->inode)) return CallError(EBUSY);
  // The previous writer of this file has finished by now.
  struct stat now;
  if (fstat(of, &now) != 0) return Status::FromErrno(Code::kCallFailed);
  if (!MayChangeLocked(base, opened->inode, {static_cast<uint64_t>(now.st_size), platform::MtimeNs(now)}))
    return Status::Of(Code::kSourceChanged);
  open_.emplace(base.token, Opened{opened, base});
  writers_.emplace(opened->inode, base.token);
  *file = opened;
  return Status::Ok();
}

bool WriteLedger::MayChangeLocked(const PutBase& base, const WriteHandle::Inode& inode,
                                  const FileVersion& version) const {
  if (!base.version || *base.version == version) return true;
  const auto overlay = overlays_.find(base.token);
  if (overlay != overlays_.end()) return overlay->second.left == version;
  return journal_ && journal_->Knows(base.token, inode, version);
}

Status WriteLedger::Commit(const std::shared_ptr<WriteHandle>& file, const Finish& finish,
                           std::vector<uint8_t>* entry) {
  std::optional<FileVersion> left;
  const auto may_change = [&](const FileVersion& version) {
    const std::scoped_lock lock(mutex_);
    const auto open = open_.find(file->token);
    return open != open_.end() && open->second.file == file && MayChangeLocked(open->second.base, file->inode, version);
  };
  const Status status = file->Commit(finish, may_change, entry, &left);
  Leave(file, left);
  return status;
}

void WriteLedger::Close(const std::shared_ptr<WriteHandle>& file) {
  file->Close();
  Leave(file, std::nullopt);
}

std::shared_ptr<WriteHandle> WriteLedger::OpenOf(const OverlayToken& token) {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(token);
  return found == open_.end() ? nullptr : found->second.file;
}

void WriteLedger::Leave(const std::shared_ptr<WriteHandle>& file, const std::optional<FileVersion>& left) {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(file->token);
  if (found != open_.end() && found->second.file == file) {
    open_.erase(found);
    writers_.erase(file->inode);
  }
  if (!left) return;
  const auto [overlay, is_new] = overlays_.try_emplace(file->token);
  if (!is_new) used_.erase(overlay->second.used);
  used_.push_front(file->token);
  overlay->second = {*left, used_.begin()};
  if (overlays_.size() <= kMostOverlays) return;
  overlays_.erase(used_.back());
  used_.pop_back();
}

}  // namespace keibi::share
