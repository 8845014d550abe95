// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>

#include <cerrno>

#include "platform/range_lock.h"

namespace keibi::platform {

// macOS locks belong to the process and end with the first descriptor of the file that is closed: too weak for guests.
int LockSpanOf(int, const LockSpan&, LockKind kind) { return kind == LockKind::kNone ? 0 : ENOLCK; }

std::optional<LockRanges::Range> FindLock(int fd, const LockSpan& span, LockKind kind) {
  struct flock lock {};
  lock.l_type = kind == LockKind::kShared ? F_RDLCK : F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(span.from);
  lock.l_len = span.end == kLockEnd ? 0 : static_cast<off_t>(span.end - span.from);
  if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  const auto from = static_cast<uint64_t>(lock.l_start);
  const uint64_t end = lock.l_len == 0 ? kLockEnd : from + static_cast<uint64_t>(lock.l_len);
  return LockRanges::Range{{from, end}, lock.l_type == F_RDLCK ? LockKind::kShared : LockKind::kExclusive};
}

}  // namespace keibi::platform
