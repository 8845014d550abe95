// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/birth_time.h"
#include "platform/file_time.h"

namespace keibi::platform {

std::optional<int64_t> BirthNs(int fd) {
  struct statx now {};
  // musl has a function for it only since 1.2.5.
  if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BTIME, &now) != 0 || (now.stx_mask & STATX_BTIME) == 0)
    return std::nullopt;
  return now.stx_btime.tv_sec * kNsPerSecond + now.stx_btime.tv_nsec;
}

}  // namespace keibi::platform
