// SPDX-License-Identifier: MPL-2.0
#include "stream/beneath.h"

#include <fcntl.h>

#include <cerrno>

#include "stream/entry.h"

namespace keibi::stream {
namespace {

using core::Code;
using core::Status;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Status OpenError() {
  if (errno == ELOOP || errno == ENAMETOOLONG) return Status::FromErrno(Code::kPathRefused);
  return Status::FromErrno(errno == ENOENT || errno == ENOTDIR ? Code::kSourceMissing : Code::kSourceUnreadable);
}

Status Step(int directory, std::string_view name, int flags, core::Fd* fd) {
  if (!IsAcceptableName(name)) return Status::Of(Code::kPathRefused);
  *fd = core::Fd(openat(directory, std::string(name).c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  return fd->valid() ? Status::Ok() : OpenError();
}

}  // namespace

Status OpenFolder(const std::string& folder, core::Fd* fd) {
  *fd = core::Fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd->valid() ? Status::Ok() : OpenError();
}

Status OpenParentBeneath(int folder, std::string_view path, core::Fd* parent, std::string* name) {
  // A descriptor of its own, so that every step replaces the one before it.
  *parent = core::Fd(openat(folder, ".", kDirectory));
  if (!parent->valid()) return OpenError();
  for (size_t slash; (slash = path.find('/')) != std::string_view::npos; path.remove_prefix(slash + 1)) {
    core::Fd next;
    if (const Status status = Step(parent->get(), path.substr(0, slash), kDirectory, &next); !status.ok())
      return status;
    *parent = std::move(next);
  }
  if (!IsAcceptableName(path)) return Status::Of(Code::kPathRefused);
  *name = path;
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

}  // namespace keibi::stream
