// SPDX-License-Identifier: MPL-2.0
#include <sys/stat.h>

#include "platform/birth_time.h"
#include "platform/file_time.h"

namespace keibi::platform {

std::optional<int64_t> BirthNs(int fd) {
  struct stat now {};
  if (fstat(fd, &now) != 0) return std::nullopt;
  return static_cast<int64_t>(now.st_birthtimespec.tv_sec) * kNsPerSecond + now.st_birthtimespec.tv_nsec;
}

}  // namespace keibi::platform
