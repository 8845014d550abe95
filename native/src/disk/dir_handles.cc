// SPDX-License-Identifier: MPL-2.0
#include "disk/dir_handles.h"

#include <fcntl.h>

#include <vector>

namespace keibi::disk {

using core::Status;

Status DirHandles::Get(uint32_t index, SharedFd* fd) {
  const std::scoped_lock lock(mutex_);
  // Walks up to the nearest open ancestor, then opens directories on the way down.
  std::vector<uint32_t> closed;
  SharedFd nearest;
  for (uint32_t at = index; at != manifest::kTop && !(nearest = Cached(at));) {
    manifest::Entry entry;
    if (!table_.Find(at, &entry)) return Status::Of(core::Code::kInternal);
    closed.push_back(at);
    at = entry.parent;
  }
  for (auto at = closed.rbegin(); at != closed.rend(); ++at) {
    SharedFd opened;
    if (const Status status = Open(*at, nearest, &opened); !status.ok()) return status;
    Keep(*at, opened);
    nearest = std::move(opened);
  }
  *fd = std::move(nearest);
  return Status::Ok();
}

void DirHandles::Rename(uint32_t index, std::string name) {
  const std::scoped_lock lock(mutex_);
  renamed_[index] = std::move(name);
}

void DirHandles::Close() {
  const std::scoped_lock lock(mutex_);
  slots_.clear();
  recent_.clear();
}

Status DirHandles::Open(uint32_t index, const SharedFd& parent, SharedFd* fd) {
  manifest::Entry entry;
  table_.Find(index, &entry);
  core::Fd opened;
  const auto renamed = renamed_.find(index);
  const std::string name = renamed == renamed_.end() ? std::string(entry.name) : renamed->second;
  if (entry.parent == manifest::kTop) {
    entry.name = name;
    if (const Status status = open_top_(index, entry, &opened); !status.ok()) return status;
  } else {
    opened = core::Fd(openat(parent->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!opened.valid()) return Status::FromErrno(missing_);
  *fd = std::make_shared<core::Fd>(std::move(opened));
  return Status::Ok();
}

SharedFd DirHandles::Cached(uint32_t index) {
  const auto found = slots_.find(index);
  if (found == slots_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second.recency);
  return found->second.fd;
}

void DirHandles::Keep(uint32_t index, SharedFd fd) {
  recent_.push_front(index);
  slots_[index] = {std::move(fd), recent_.begin()};
  if (slots_.size() <= kKept) return;
  slots_.erase(recent_.back());
  recent_.pop_back();
}

}  // namespace keibi::disk
