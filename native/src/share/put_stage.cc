// SPDX-License-Identifier: MPL-2.0
#include "share/put_stage.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "core/whole_io.h"
#include "disk/scratch_file.h"
#include "share/call_error.h"

namespace keibi::share {

using core::Code;
using core::Status;

Status PutStage::Write(uint64_t offset, const uint8_t* data, size_t bytes) {
  int file = -1;
  {
    const std::scoped_lock lock(mutex_);
    if (ranges_.size() >= disk::kMaxRanges) return Status::Of(Code::kCallFailed, EFBIG);
    if (const Status status = MakeRoomLocked(offset, bytes); !status.ok()) return status;
    if (!on_disk_) {
      if (!core::WriteWhole(file_.get(), data, bytes, offset)) return CallError();
      AddLocked(offset, offset + bytes);
      return Status::Ok();
    }
    file = file_.get();
  }
  // A stage on the disk never moves, so several lanes can write to it without the lock.
  if (!core::WriteWhole(file, data, bytes, offset)) return CallError();
  const std::scoped_lock lock(mutex_);
  AddLocked(offset, offset + bytes);
  return Status::Ok();
}

Status PutStage::MakeRoomLocked(uint64_t offset, size_t bytes) {
  written_ += bytes;
  if (on_disk_) return Status::Ok();
  // Only the disk itself knows the longest file that it supports.
  const bool short_one = written_ <= kMostInMemory && offset <= kFarthestInMemory;
  if (!file_.valid() && short_one) file_ = disk::OpenMemoryScratch();
  if (file_.valid() && short_one) return Status::Ok();
  core::Fd disk = disk::OpenDiskScratch(directory_.get());
  if (!disk.valid()) return CallError();
  std::vector<uint8_t> buffer;
  for (const auto& [from, end] : ranges_) {
    buffer.resize(end - from);
    if (core::ReadWhole(file_.get(), buffer.data(), buffer.size(), from) != static_cast<ssize_t>(buffer.size()) ||
        !core::WriteWhole(disk.get(), buffer.data(), buffer.size(), from))
      return CallError();
  }
  file_ = std::move(disk);
  on_disk_ = true;
  return Status::Ok();
}

void PutStage::AddLocked(uint64_t from, uint64_t end) {
  auto next = ranges_.upper_bound(from);
  if (next != ranges_.begin() && std::prev(next)->second >= from) {
    --next;
    from = next->first;
  }
  while (next != ranges_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace(from, end);
}

Status PutStage::Read(uint64_t offset, uint8_t* to, size_t bytes) const {
  const std::scoped_lock lock(mutex_);
  const ssize_t got = core::ReadWhole(file_.get(), to, bytes, offset);
  if (got < 0) return CallError();
  return got == static_cast<ssize_t>(bytes) ? Status::Ok() : Status::Of(Code::kCallFailed, EIO);
}

void PutStage::Drop(uint64_t offset, size_t bytes) const {
  const std::scoped_lock lock(mutex_);
  // Where the disk cannot punch holes, the space stays in use until the put is over.
  if (on_disk_)
    (void)!fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes));
}

std::vector<disk::ByteRange> PutStage::ranges() const {
  const std::scoped_lock lock(mutex_);
  std::vector<disk::ByteRange> ranges;
  ranges.reserve(ranges_.size());
  for (const auto& [from, end] : ranges_) ranges.push_back({from, end - from});
  return ranges;
}

}  // namespace keibi::share
