// SPDX-License-Identifier: MPL-2.0
#include "platform/range_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace keibi::platform {

int LockWhole(int fd, LockKind kind) {
  const int how = kind == LockKind::kNone ? LOCK_UN : kind == LockKind::kShared ? LOCK_SH : LOCK_EX;
  if (flock(fd, how | LOCK_NB) == 0) return 0;
  return errno == EWOULDBLOCK ? EAGAIN : errno;
}

}  // namespace keibi::platform
