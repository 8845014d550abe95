// SPDX-License-Identifier: MPL-2.0
#include "share/folder_writes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/limits.h"
#include "disk/beneath.h"
#include "manifest/dir_entry.h"
#include "platform/copy_file.h"
#include "platform/file_time.h"
#include "platform/rename.h"
#include "share/call_error.h"

namespace keibi::share {
namespace {

using core::Code;
using core::Status;

bool IsUserAttribute(const std::string& name) {
  return name.starts_with("user.") && name.size() > 5 && name.size() <= platform::kMaxAttributeName;
}

// Sets the mode bits that a peer knows; a directory keeps its other bits.
Status SetMode(int parent, const std::string& name, uint16_t mode) {
  struct stat now;
  if (fstatat(parent, name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return CallError();
  const mode_t kept = S_ISDIR(now.st_mode) ? now.st_mode & 07000 : 0;
  return fchmodat(parent, name.c_str(), kept | (mode & 0777), AT_SYMLINK_NOFOLLOW) == 0 ? Status::Ok() : CallError();
}

Status MtimeOf(int fd, int64_t* mtime_ns) {
  struct stat now;
  if (fstat(fd, &now) != 0) return CallError();
  *mtime_ns = platform::MtimeNs(now);
  return Status::Ok();
}

}  // namespace

Status AsCall(Status status) {
  if (status.ok() || status.code == Code::kPathRefused) return status;
  if (status.code == Code::kSourceMissing) return CallError(status.system_error != 0 ? status.system_error : ENOENT);
  return CallError(status.system_error != 0 ? status.system_error : EIO);
}

Status AppendEntryAt(int parent, const std::string& name, std::vector<uint8_t>* entry) {
  manifest::DirEntry child;
  if (const Status status = manifest::LookAt(parent, name.c_str(), &child); !status.ok()) return AsCall(status);
  manifest::AppendEntry(entry, child.entry);
  return Status::Ok();
}

Status FolderWrites::Parent(std::string_view path, bool names, core::Fd* parent, std::string* name) const {
  if (path.empty()) return CallError(EBUSY);
  if (!IsSharePath(path)) return Status::Of(Code::kPathRefused);
  if (!folder_.only.empty()) {
    if (names) return CallError(EPERM);
    if (path != folder_.only) return CallError(ENOENT);
  }
  core::Fd folder;
  if (const Status status = disk::OpenFolder(folder_.path, &folder); !status.ok()) return AsCall(status);
  return AsCall(disk::OpenParentBeneath(folder.get(), path, parent, name));
}

Status FolderWrites::Create(std::string_view path, uint16_t mode, std::vector<uint8_t>* entry,
                            int64_t* directory_ns) const {
  core::Fd parent;
  std::string name;
  if (const Status status = Parent(path, true, &parent, &name); !status.ok()) return status;
  // Private to its owner until it has its final mode.
  const core::Fd file(
      openat(parent.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0600));
  if (!file.valid() || fchmod(file.get(), mode & 0777) != 0) return CallError();
  if (const Status status = MtimeOf(parent.get(), directory_ns); !status.ok()) return status;
  return AppendEntryAt(parent.get(), name, entry);
}

Status FolderWrites::MakeDirectory(std::string_view path, uint16_t mode, std::vector<uint8_t>* entry,
                                   int64_t* directory_ns) const {
  core::Fd parent;
  std::string name;
  if (const Status status = Parent(path, true, &parent, &name); !status.ok()) return status;
  if (mkdirat(parent.get(), name.c_str(), mode & 0700) != 0) return CallError();
  if (const Status status = SetMode(parent.get(), name, mode); !status.ok()) return status;
  if (const Status status = MtimeOf(parent.get(), directory_ns); !status.ok()) return status;
  return AppendEntryAt(parent.get(), name, entry);
}

Status FolderWrites::MakeSymlink(std::string_view path, const std::string& target, std::vector<uint8_t>* entry,
                                 int64_t* directory_ns) const {
  core::Fd parent;
  std::string name;
  if (target.empty() || target.find('\0') != std::string::npos || !manifest::IsUtf8(target)) return CallError(EINVAL);
  if (target.size() > core::kMaxTargetBytes) return CallError(ENAMETOOLONG);
  if (const Status status = Parent(path, true, &parent, &name); !status.ok()) return status;
  if (symlinkat(target.c_str(), parent.get(), name.c_str()) != 0) return CallError();
  if (const Status status = MtimeOf(parent.get(), directory_ns); !status.ok()) return status;
  return AppendEntryAt(parent.get(), name, entry);
}

Status FolderWrites::Remove(std::string_view path, bool directory, int64_t* directory_ns) const {
  core::Fd parent;
  std::string name;
  if (const Status status = Parent(path, true, &parent, &name); !status.ok()) return status;
  if (unlinkat(parent.get(), name.c_str(), directory ? AT_REMOVEDIR : 0) != 0) return CallError();
  return MtimeOf(parent.get(), directory_ns);
}

Status FolderWrites::Rename(std::string_view from, std::string_view to, RenameMode mode) const {
  core::Fd one, other;
  std::string name, new_name;
  if (const Status status = Parent(from, true, &one, &name); !status.ok()) return status;
  if (const Status status = Parent(to, true, &other, &new_name); !status.ok()) return status;
  const auto renamed = [&] {
    switch (mode) {
      case RenameMode::kReplace:
        return renameat(one.get(), name.c_str(), other.get(), new_name.c_str()) == 0;
      case RenameMode::kKeep:
        return platform::RenameNew(one.get(), name, other.get(), new_name);
      case RenameMode::kExchange:
        return platform::RenameExchange(one.get(), name, other.get(), new_name);
    }
    errno = EINVAL;
    return false;
  };
  return renamed() ? Status::Ok() : CallError();
}

Status FolderWrites::Change(std::string_view path, std::optional<uint16_t> mode, std::optional<int64_t> mtime_ns,
                            std::vector<uint8_t>* entry) const {
  core::Fd parent;
  std::string name;
  if (const Status status = Parent(path, false, &parent, &name); !status.ok()) return status;
  if (mode) {
    if (const Status status = SetMode(parent.get(), name, *mode); !status.ok()) return status;
  }
  if (mtime_ns && utimensat(parent.get(), name.c_str(), platform::FileTimes(*mtime_ns).times, AT_SYMLINK_NOFOLLOW) != 0)
    return CallError();
  return AppendEntryAt(parent.get(), name, entry);
}

Status FolderWrites::Copy(std::string_view from, std::string_view to, std::vector<uint8_t>* entry) const {
  core::Fd one, other;
  std::string name, new_name;
  if (const Status status = Parent(from, true, &one, &name); !status.ok()) return status;
  if (const Status status = Parent(to, true, &other, &new_name); !status.ok()) return status;
  // Non-blocking: it may be a pipe.
  const core::Fd source(disk::OpenWhenFree(one.get(), name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat what;
  if (!source.valid() || fstat(source.get(), &what) != 0) return CallError();
  if (!S_ISREG(what.st_mode)) return CallError(S_ISDIR(what.st_mode) ? EISDIR : EINVAL);
  const core::Fd copy(
      openat(other.get(), new_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!copy.valid()) return CallError();
  const bool copied = platform::CopyContent(source.get(), copy.get(), what.st_size) &&
                      fchmod(copy.get(), what.st_mode & 0777) == 0 &&
                      futimens(copy.get(), platform::FileTimes(platform::MtimeNs(what)).times) == 0;
  if (copied) return AppendEntryAt(other.get(), new_name, entry);
  const Status failed = CallError();
  unlinkat(other.get(), new_name.c_str(), 0);
  return failed;
}

Status FolderWrites::OpenForAttributes(std::string_view path, const std::string& name, bool changes,
                                       core::Fd* fd) const {
  if (!name.empty() && !IsUserAttribute(name)) return CallError(ENOTSUP);
  core::Fd folder, parent;
  std::string own;
  if (path.empty()) {
    if (!folder_.only.empty()) return CallError(ENOTSUP);
    return AsCall(disk::OpenFolder(folder_.path, fd));
  }
  if (const Status status = Parent(path, false, &parent, &own); !status.ok()) return status;
  struct stat what;
  if (fstatat(parent.get(), own.c_str(), &what, AT_SYMLINK_NOFOLLOW) != 0) return CallError();
  // The errno that Linux gives for anything but a file or directory.
  if (!S_ISREG(what.st_mode) && !S_ISDIR(what.st_mode)) return CallError(changes ? EPERM : ENODATA);
  constexpr int kFlags = O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
  *fd = core::Fd(disk::OpenWhenFree(parent.get(), own, O_RDONLY | kFlags));
  // A file that its owner may write but not read also has attributes.
  if (!fd->valid() && errno == EACCES) *fd = core::Fd(disk::OpenWhenFree(parent.get(), own, O_WRONLY | kFlags));
  return fd->valid() ? Status::Ok() : CallError();
}

Status FolderWrites::Get(std::string_view path, const std::string& name, std::vector<uint8_t>* value) const {
  core::Fd fd;
  if (name.empty()) return CallError(ENOTSUP);
  if (const Status status = OpenForAttributes(path, name, false, &fd); !status.ok()) return status;
  return platform::GetAttribute(fd.get(), name, value) ? Status::Ok() : CallError();
}

Status FolderWrites::Set(std::string_view path, const std::string& name, const std::vector<uint8_t>& value,
                         platform::AttributeMode mode) const {
  core::Fd fd;
  if (name.empty()) return CallError(ENOTSUP);
  if (value.size() > platform::kMaxAttributeBytes) return CallError(E2BIG);
  if (const Status status = OpenForAttributes(path, name, true, &fd); !status.ok()) return status;
  return platform::SetAttribute(fd.get(), name, value, mode) ? Status::Ok() : CallError();
}

Status FolderWrites::Unset(std::string_view path, const std::string& name) const {
  core::Fd fd;
  if (name.empty()) return CallError(ENOTSUP);
  if (const Status status = OpenForAttributes(path, name, true, &fd); !status.ok()) return status;
  return platform::RemoveAttribute(fd.get(), name) ? Status::Ok() : CallError();
}

Status FolderWrites::List(std::string_view path, std::vector<std::string>* names) const {
  core::Fd fd;
  const Status status = OpenForAttributes(path, "", false, &fd);
  if (status.code == Code::kCallFailed && status.system_error == ENODATA) return Status::Ok();  // a symlink has none
  if (!status.ok()) return status;
  if (!platform::ListAttributes(fd.get(), names)) return CallError();
  std::erase_if(*names, [](const std::string& name) { return !IsUserAttribute(name) || !manifest::IsUtf8(name); });
  return Status::Ok();
}

Status FolderWrites::SyncDirectory(std::string_view path) const {
  core::Fd folder, directory;
  if (!path.empty() && !IsSharePath(path)) return Status::Of(Code::kPathRefused);
  if (const Status status = disk::OpenFolder(folder_.path, &folder); !status.ok()) return AsCall(status);
  const Status opened = disk::OpenBeneath(folder.get(), path, O_RDONLY | O_DIRECTORY, &directory);
  if (!opened.ok()) return AsCall(opened);
  return fsync(directory.get()) == 0 ? Status::Ok() : CallError();
}

}  // namespace keibi::share
