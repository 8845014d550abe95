// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/disk.h"
#include "platform/write_at.h"

// Written from the manual pages, never compiled (docs/PORTING.md).
namespace keibi::platform {

using core::Code;
using core::Status;

Status PunchHole(int fd, uint64_t offset, uint64_t bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  const uint64_t end = std::min(offset + bytes, static_cast<uint64_t>(status.st_size));
  if (offset >= end) return Status::Ok();
  // A hole consists of whole blocks; the rest at both ends is filled with zeros.
  const auto block = static_cast<uint64_t>(status.st_blksize);
  const uint64_t first = (offset + block - 1) / block * block;
  const uint64_t last = end / block * block;
  if (first >= last) return WriteZeros(fd, offset, end);
  fpunchhole_t hole{};
  hole.fp_offset = static_cast<off_t>(first);
  hole.fp_length = static_cast<off_t>(last - first);
  if (fcntl(fd, F_PUNCHHOLE, &hole) != 0) {
    if (errno != ENOTSUP && errno != EINVAL) return WriteError(Code::kDestinationUnusable);
    return WriteZeros(fd, offset, end);
  }
  if (const Status before = WriteZeros(fd, offset, first); !before.ok()) return before;
  return WriteZeros(fd, last, end);
}

Status Reserve(int fd, uint64_t bytes) {
  struct stat status;
  if (fstat(fd, &status) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  const auto length = static_cast<off_t>(bytes);
  if (length > status.st_size) {
    // Counted from the current end of the file.
    fstore_t room{};
    room.fst_flags = F_ALLOCATEALL;
    room.fst_posmode = F_PEOFPOSMODE;
    room.fst_length = length - status.st_size;
    if (fcntl(fd, F_PREALLOCATE, &room) != 0 && errno != ENOTSUP) return WriteError(Code::kDestinationUnusable);
  }
  return ftruncate(fd, length) == 0 ? Status::Ok() : WriteError(Code::kDestinationUnusable);
}

bool HasHole(int fd, uint64_t bytes) {
  const off_t hole = lseek(fd, 0, SEEK_HOLE);
  return hole >= 0 && static_cast<uint64_t>(hole) < bytes;
}

// macOS cannot start the write-out of a part of a file, or drop it from the cache, without waiting for the disk.
void WriteBehind(int, uint64_t) {}

Status SyncFileSystem(int fd) {
  const bool synced = fsync_volume_np(fd, SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT) == 0;
  return synced ? Status::Ok() : WriteError(Code::kDestinationUnusable);
}

}  // namespace keibi::platform
