// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "stream/rename.h"

// Written from the manual pages, never compiled (docs/PORTING.md).
namespace keibi::stream {

bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (renameatx_np(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_EXCL) == 0) return true;
  if (errno != ENOTSUP && errno != EINVAL) return false;
  // Neither APFS nor HFS+. A hard link never replaces either; exFAT has none of them, so there it is look, then rename.
  if (linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) == 0)
    return unlinkat(from_directory, from.c_str(), 0) == 0;
  if (errno != EPERM && errno != ENOTSUP) return false;
  struct stat status;
  if (fstatat(to_directory, to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return renameat(from_directory, from.c_str(), to_directory, to.c_str()) == 0;
}

bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (renameatx_np(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_SWAP) == 0) return true;
  if (errno == ENOTSUP) errno = EINVAL;
  return false;
}

}  // namespace keibi::stream
