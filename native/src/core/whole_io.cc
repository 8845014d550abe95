// SPDX-License-Identifier: MPL-2.0
#include "core/whole_io.h"

#include <unistd.h>

#include <cerrno>

namespace keibi::core {

ssize_t ReadWhole(int fd, uint8_t* to, size_t bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t some = pread(fd, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return some;
    if (some == 0) break;
    done += static_cast<size_t>(some);
  }
  return static_cast<ssize_t>(done);
}

bool WriteWhole(int fd, const uint8_t* data, size_t bytes, uint64_t offset) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t some = pwrite(fd, data + done, bytes - done, static_cast<off_t>(offset + done));
    if (some < 0 && errno == EINTR) continue;
    if (some == 0) errno = EIO;
    if (some <= 0) return false;
    done += static_cast<size_t>(some);
  }
  return true;
}

}  // namespace keibi::core
