// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "stream/rename.h"

namespace keibi::stream {

bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // NFS and a few others have no such flag. A hard link never replaces either; vfat has none of them, so there it is
  // look, then rename.
  if (linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) == 0)
    return unlinkat(from_directory, from.c_str(), 0) == 0;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return false;
  struct stat status;
  if (fstatat(to_directory, to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return renameat(from_directory, from.c_str(), to_directory, to.c_str()) == 0;
}

bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  return renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace keibi::stream
