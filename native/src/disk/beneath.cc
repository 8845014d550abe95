// SPDX-License-Identifier: MPL-2.0
#include "disk/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "manifest/entry.h"
#include "platform/resolve_beneath.h"
#include "platform/write_at.h"

namespace keibi::disk {
namespace {

using core::Code;
using core::Status;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Status OpenError() {
  if (errno == ELOOP || errno == ENAMETOOLONG) return Status::FromErrno(Code::kPathRefused);
  return Status::FromErrno(errno == ENOENT || errno == ENOTDIR ? Code::kSourceMissing : Code::kSourceUnreadable);
}

Status Step(int directory, std::string_view name, int flags, core::Fd* fd) {
  if (!manifest::IsAcceptableName(name)) return Status::Of(Code::kPathRefused);
  *fd = core::Fd(OpenWhenFree(directory, std::string(name), flags | O_NOFOLLOW | O_CLOEXEC));
  return fd->valid() ? Status::Ok() : OpenError();
}

// A symlink makes openat2 fail with ELOOP, and openat with ENOTDIR or ELOOP.
Status MakeError(int directory, const std::string& name) {
  const int error = errno;
  struct stat status;
  const bool symlink = fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  if (symlink || error == ELOOP || error == EXDEV) return Status::Of(Code::kFolderNotAllowed, ELOOP);
  return Status::Of(Code::kDestinationUnusable, error);
}

Status MakeStep(int directory, const std::string& name, core::Fd* fd) {
  if (name.empty() || name == "." || name == "..") return Status::Of(Code::kFolderNotAllowed, EINVAL);
  if (mkdirat(directory, name.c_str(), 0777) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
    return platform::WriteError(Code::kDestinationUnusable);
  *fd = core::Fd(openat(directory, name.c_str(), kDirectory));
  return fd->valid() ? Status::Ok() : MakeError(directory, name);
}

}  // namespace

int OpenWhenFree(int directory, const std::string& name, int flags) {
  constexpr int kMostTries = 5000;
  constexpr std::chrono::milliseconds kBetweenTries{1};
  for (int tries = 0;; tries++) {
    const int fd = openat(directory, name.c_str(), flags);
    if (fd >= 0 || errno != EWOULDBLOCK || tries == kMostTries) return fd;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Status OpenFolder(const std::string& folder, core::Fd* fd) {
  *fd = core::Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd->valid() ? Status::Ok() : OpenError();
}

Status OpenParentBeneath(int folder, std::string_view path, core::Fd* parent, std::string* name) {
  // A descriptor of its own, so that each step can replace the previous one.
  *parent = core::Fd(openat(folder, ".", kDirectory));
  if (!parent->valid()) return OpenError();
  for (size_t slash; (slash = path.find('/')) != std::string_view::npos; path.remove_prefix(slash + 1)) {
    core::Fd next;
    if (const Status status = Step(parent->get(), path.substr(0, slash), kDirectory, &next); !status.ok())
      return status;
    *parent = std::move(next);
  }
  if (!manifest::IsAcceptableName(path)) return Status::Of(Code::kPathRefused);
  *name = path;
  return Status::Ok();
}

Status MakeBeneath(int folder, std::string_view path, core::Fd* fd) {
  *fd = core::Fd(openat(folder, ".", kDirectory));
  if (!fd->valid()) return Status::FromErrno(Code::kDestinationUnusable);
  if (path.empty()) return Status::Ok();
  for (std::string_view rest = path; !rest.empty();) {
    const size_t slash = rest.find('/');
    core::Fd next;
    if (const Status status = MakeStep(fd->get(), std::string(rest.substr(0, slash)), &next); !status.ok())
      return status;
    *fd = std::move(next);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  // A directory that was moved out of the folder during the steps above is no longer beneath it.
  core::Fd whole;
  const std::string name(path);
  if (platform::ResolveBeneath(folder, name.c_str(), O_RDONLY | O_DIRECTORY, &whole))
    *fd = std::move(whole);
  else if (errno != ENOSYS)
    return MakeError(folder, name);
  return Status::Ok();
}

Status OpenBeneath(int folder, std::string_view path, int flags, core::Fd* fd) {
  if (path.empty()) {
    *fd = core::Fd(openat(folder, ".", flags | O_CLOEXEC));
    return fd->valid() ? Status::Ok() : OpenError();
  }
  core::Fd parent;
  std::string name;
  if (const Status status = OpenParentBeneath(folder, path, &parent, &name); !status.ok()) return status;
  return Step(parent.get(), name, flags, fd);
}

}  // namespace keibi::disk
