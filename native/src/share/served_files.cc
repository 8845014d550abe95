// SPDX-License-Identifier: MPL-2.0
#include "share/served_files.h"

#include <fcntl.h>

#include <algorithm>

#include "core/whole_io.h"
#include "disk/beneath.h"
#include "manifest/entry.h"

namespace keibi::share {
namespace {

using core::Code;
using core::Status;

constexpr size_t kMostOpen = 16;  // of one lane

}  // namespace

bool IsSharePath(std::string_view path) {
  if (path.empty() || path.size() > kMaxSharePathBytes) return false;
  for (bool more = true; more;) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (!manifest::IsAcceptableName(name) || name.starts_with(manifest::kStagingName)) return false;
    more = slash != std::string_view::npos;
    if (more) path.remove_prefix(slash + 1);
  }
  return true;
}

bool ServedFiles::Name(const ReadRequest& ask) {
  if (files_.size() >= kMaxNamedFiles || path_bytes_ + ask.path.size() > kMaxNamedBytes) return false;
  const auto [at, is_new] = files_.try_emplace(ask.file);
  if (!is_new) return false;
  File& file = at->second;
  file.path = ask.path;
  file.held = {ask.size, ask.mtime_ns, std::nullopt};
  path_bytes_ += ask.path.size();
  return true;
}

void ServedFiles::Forget(uint32_t number) {
  const auto at = files_.find(number);
  if (at == files_.end()) return;
  if (at->second.fd.valid()) open_.erase(at->second.opened);
  path_bytes_ -= at->second.path.size();
  files_.erase(at);
}

Status ServedFiles::Open(uint32_t number, File* file) {
  if (file->fd.valid()) {
    open_.splice(open_.begin(), open_, file->opened);
    return Status::Ok();
  }
  if (!IsSharePath(file->path)) return Status::Of(Code::kPathRefused);
  if (!folder_.only.empty() && file->path != folder_.only) return Status::Of(Code::kSourceMissing);
  core::Fd folder, fd;
  if (const Status status = disk::OpenFolder(folder_.path, &folder); !status.ok()) return status;
  // Non-blocking: it may be a pipe by now.
  const Status opened = disk::OpenBeneath(folder.get(), file->path, O_RDONLY | O_NONBLOCK, &fd);
  if (!opened.ok()) return opened;
  // The open descriptor stays the named file, even if another file takes its name later.
  if (const Status status = CheckHeld(fd.get(), &file->held); !status.ok()) return status;
  if (open_.size() == kMostOpen) {
    files_.at(open_.back()).fd.Close();
    open_.pop_back();
  }
  open_.push_front(number);
  file->opened = open_.begin();
  file->fd = std::move(fd);
  return Status::Ok();
}

Status ServedFiles::Read(uint32_t number, uint64_t offset, uint32_t length, uint8_t* to) {
  const auto at = files_.find(number);
  if (at == files_.end()) return Status::Of(Code::kHandshakeMalformed);
  File& file = at->second;
  if (offset > file.held.size || length > file.held.size - offset) return Status::Of(Code::kHandshakeMalformed);
  if (const Status status = Open(number, &file); !status.ok()) return status;
  const ssize_t got = core::ReadWhole(file.fd.get(), to, length, offset);
  if (got < 0) return Status::FromErrno(Code::kSourceUnreadable);
  if (got < ssize_t{length}) return Status::Of(Code::kSourceChanged);
  return CheckHeld(file.fd.get(), &file.held);
}

}  // namespace keibi::share
