// SPDX-License-Identifier: MPL-2.0
#include "receive/sync_batch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/fd.h"
#include "platform/disk.h"
#include "platform/write_at.h"

namespace keibi::receive {

using core::Code;
using core::Status;

SyncBatch::SyncBatch(const Staging& staging, Place place)
    : staging_(staging), place_(std::move(place)), thread_([this] { Run(); }) {}

void SyncBatch::Add(Finished file) {
  const std::scoped_lock lock(mutex_);
  gathered_.push_back(std::move(file));
  changed_.notify_one();
}

void SyncBatch::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !gathered_.empty(); });
    if (stopped_) return;
    const std::vector<Finished> files = std::exchange(gathered_, {});
    lock.unlock();
    const bool few = files.size() <= kFewFiles;
    const Status all = few ? Status::Ok() : platform::SyncFileSystem(staging_.fd());
    for (const Finished& file : files) place_(file, few ? Sync(file) : all);
    lock.lock();
  }
}

Status SyncBatch::Sync(const Finished& file) const {
  const core::Fd fd(openat(staging_.fd(), file.staged.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno == EACCES)
    return platform::SyncFileSystem(staging_.fd());  // its mode does not allow reading
  if (!fd.valid()) return Status::FromErrno(Code::kDestinationUnusable);
  return fdatasync(fd.get()) == 0 ? Status::Ok() : platform::WriteError(Code::kDestinationUnusable);
}

void SyncBatch::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace keibi::receive
