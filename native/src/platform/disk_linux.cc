// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/disk.h"
#include "platform/write_at.h"

namespace keibi::platform {

using core::Code;
using core::Status;

Status PunchHole(int fd, uint64_t offset, uint64_t bytes) {
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (fallocate(fd, kMode, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return Status::Ok();
  if (errno != EOPNOTSUPP && errno != ENOSYS) return WriteError(Code::kDestinationUnusable);
  // Holes are not supported here: write zeros up to the end of the file.
  struct stat status;
  if (fstat(fd, &status) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  return WriteZeros(fd, offset, std::min(offset + bytes, static_cast<uint64_t>(status.st_size)));
}

Status Reserve(int fd, uint64_t bytes) {
  const auto length = static_cast<off_t>(bytes);
  if (ftruncate(fd, length) != 0) return WriteError(Code::kDestinationUnusable);
  if (fallocate(fd, 0, 0, length) == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return Status::Ok();
  return WriteError(Code::kDestinationUnusable);
}

bool HasHole(int fd, uint64_t bytes) {
  // ZFS also reports written zeros as holes, and it commits everything in order.
  constexpr unsigned kZfs = 0x2fc12fc1;
  struct statfs system;
  if (fstatfs(fd, &system) != 0 || static_cast<unsigned>(system.f_type) == kZfs) return false;
  const off_t hole = lseek(fd, 0, SEEK_HOLE);
  return hole >= 0 && static_cast<uint64_t>(hole) < bytes;
}

void WriteBehind(int fd, uint64_t end) {
  if (end == 0 || end % kWriteBehindWindow != 0) return;
  const uint64_t begin = end - kWriteBehindWindow;
  sync_file_range(fd, static_cast<off_t>(begin), kWriteBehindWindow, SYNC_FILE_RANGE_WRITE);
  if (begin < kWriteBehindKept) return;
  posix_fadvise(fd, static_cast<off_t>(begin - kWriteBehindKept), kWriteBehindWindow, POSIX_FADV_DONTNEED);
}

Status SyncFileSystem(int fd) { return syncfs(fd) == 0 ? Status::Ok() : WriteError(Code::kDestinationUnusable); }

}  // namespace keibi::platform
