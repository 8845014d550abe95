// SPDX-License-Identifier: MPL-2.0
#include "stream/write_ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "stream/beneath.h"
#include "stream/file_time.h"
#include "stream/folder_writes.h"

namespace keibi::stream {
namespace {

using core::Code;
using core::Status;

// Not blocking: it may be a pipe.
constexpr int kFlags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

Status CallError(int error) { return Status::Of(Code::kCallFailed, error); }

// A file that its owner may not write is the owner's all the same: it was open before it was closed to writers.
core::Fd OpenOwn(int parent, const std::string& name) {
  struct stat what;
  if (fstatat(parent, name.c_str(), &what, AT_SYMLINK_NOFOLLOW) != 0) return core::Fd();
  if (!S_ISREG(what.st_mode) || what.st_uid != geteuid()) {
    errno = EACCES;
    return core::Fd();
  }
  if (fchmodat(parent, name.c_str(), (what.st_mode & 0777) | S_IWUSR, AT_SYMLINK_NOFOLLOW) != 0) return core::Fd();
  core::Fd fd(openat(parent, name.c_str(), kFlags));
  struct stat opened;
  const bool same = fd.valid() && fstat(fd.get(), &opened) == 0 && opened.st_ino == what.st_ino;
  if (same && fchmod(fd.get(), what.st_mode & 0777) == 0) return fd;
  errno = EACCES;
  return core::Fd();
}

Status OpenToWrite(const ServedFolder& folder, std::string_view path, core::Fd* fd, std::string* name) {
  if (!IsSharePath(path)) return Status::Of(Code::kPathRefused);
  if (!folder.only.empty() && path != folder.only) return Status::Of(Code::kSourceMissing);
  core::Fd own, parent;
  Status status = OpenFolder(folder.path, &own);
  if (status.ok()) status = OpenParentBeneath(own.get(), path, &parent, name);
  if (!status.ok()) return status.code == Code::kSourceMissing ? status : AsCall(status);
  *fd = core::Fd(openat(parent.get(), name->c_str(), kFlags));
  if (!fd->valid() && errno == EACCES) *fd = OpenOwn(parent.get(), *name);
  if (fd->valid()) return Status::Ok();
  return errno == ENOENT ? Status::FromErrno(Code::kSourceMissing) : Status::FromErrno(Code::kCallFailed);
}

}  // namespace

Status WriteLedger::Open(const ServedFolder& folder, std::string_view path, const PutBase& base,
                         std::shared_ptr<WrittenFile>* file) {
  if (const auto before = OpenOf(base.token)) Close(before);
  core::Fd fd;
  std::string name;
  if (const Status status = OpenToWrite(folder, path, &fd, &name); !status.ok()) return status;
  struct stat now;
  if (fstat(fd.get(), &now) != 0) return Status::FromErrno(Code::kCallFailed);
  if (!S_ISREG(now.st_mode)) return CallError(EINVAL);
  const int of = fd.get();  // for as long as `opened` is not closed, which nobody else knows yet
  const auto opened = std::make_shared<WrittenFile>(std::move(fd), std::move(name), base.token,
                                                    WrittenFile::Inode{now.st_dev, now.st_ino}, journal_);
  {
    const std::scoped_lock lock(mutex_);
    if (open_.contains(base.token) || writers_.contains(opened->inode)) return CallError(EBUSY);
    // Whoever wrote it before has left it by now.
    if (fstat(of, &now) != 0) return Status::FromErrno(Code::kCallFailed);
    const FileState state{static_cast<uint64_t>(now.st_size), MtimeNs(now)};
    const auto draft = drafts_.find(base.token);
    const bool known = !base.state || *base.state == state ||
                       (draft != drafts_.end() ? draft->second.left == state
                                               : journal_ && journal_->Knows(base.token, opened->inode, state));
    if (!known) return Status::Of(Code::kSourceChanged);
    open_.emplace(base.token, opened);
    writers_.emplace(opened->inode, base.token);
  }
  if (journal_) journal_->Begins(base.token, opened->inode);
  const Status cut = opened->Cut(base.keep);
  if (!cut.ok()) Close(opened);
  if (cut.ok()) *file = opened;
  return cut;
}

Status WriteLedger::Commit(const std::shared_ptr<WrittenFile>& file, const Finish& finish,
                           std::vector<uint8_t>* entry) {
  std::optional<FileState> left;
  const Status status = file->Commit(finish, entry, &left);
  Leave(file, left);
  return status;
}

void WriteLedger::Close(const std::shared_ptr<WrittenFile>& file) { Leave(file, file->Close()); }

std::shared_ptr<WrittenFile> WriteLedger::OpenOf(const DraftToken& token) {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(token);
  return found == open_.end() ? nullptr : found->second;
}

void WriteLedger::Leave(const std::shared_ptr<WrittenFile>& file, const std::optional<FileState>& left) {
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(file->token);
  if (found != open_.end() && found->second == file) {
    open_.erase(found);
    writers_.erase(file->inode);
  }
  if (!left) return;
  const auto [draft, is_new] = drafts_.try_emplace(file->token);
  if (!is_new) used_.erase(draft->second.used);
  used_.push_front(file->token);
  draft->second = {*left, used_.begin()};
  if (drafts_.size() <= kMostDrafts) return;
  drafts_.erase(used_.back());
  used_.pop_back();
}

}  // namespace keibi::stream
