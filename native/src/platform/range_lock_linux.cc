// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>

#include <cerrno>

#include "platform/range_lock.h"

namespace keibi::platform {
namespace {

struct flock LockOf(const LockSpan& span, LockKind kind) {
  struct flock lock {};
  lock.l_type = static_cast<short>(kind == LockKind::kNone ? F_UNLCK : kind == LockKind::kShared ? F_RDLCK : F_WRLCK);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(span.from);
  lock.l_len = span.end == kLockEnd ? 0 : static_cast<off_t>(span.end - span.from);
  return lock;
}

}  // namespace

int LockSpanOf(int fd, const LockSpan& span, LockKind kind) {
  struct flock lock = LockOf(span, kind);
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

std::optional<LockRanges::Range> FindLock(int fd, const LockSpan& span, LockKind kind) {
  struct flock lock = LockOf(span, kind);
  if (fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  const auto from = static_cast<uint64_t>(lock.l_start);
  const uint64_t end = lock.l_len == 0 ? kLockEnd : from + static_cast<uint64_t>(lock.l_len);
  return LockRanges::Range{{from, end}, lock.l_type == F_RDLCK ? LockKind::kShared : LockKind::kExclusive};
}

}  // namespace keibi::platform
