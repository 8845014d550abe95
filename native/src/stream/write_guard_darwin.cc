// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>

#include "stream/write_guard.h"

namespace keibi::stream {

// There are no leases, and a lock of a process goes with the first descriptor that is closed.
WriteGuard::WriteGuard(int fd) : fd_(fd), locked_out_(IsLocked(fd)) {}

WriteGuard::~WriteGuard() = default;

bool WriteGuard::IsLocked(int fd) {
  struct flock all {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  return fcntl(fd, F_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

}  // namespace keibi::stream
