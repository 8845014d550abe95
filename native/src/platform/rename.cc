// SPDX-License-Identifier: MPL-2.0
#include "platform/rename.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace keibi::platform {

bool RenameNewByLink(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  // A hard link never replaces a file either. vfat and exFAT have no hard links.
  if (linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) == 0)
    return unlinkat(from_directory, from.c_str(), 0) == 0;
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return false;
  struct stat status;
  if (fstatat(to_directory, to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return renameat(from_directory, from.c_str(), to_directory, to.c_str()) == 0;
}

}  // namespace keibi::platform
