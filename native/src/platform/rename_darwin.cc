// SPDX-License-Identifier: MPL-2.0
#include <stdio.h>

#include <cerrno>

#include "platform/rename.h"

// Written from the manual pages, never compiled (docs/PORTING.md).
namespace keibi::platform {

bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (renameatx_np(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_EXCL) == 0) return true;
  if (errno != ENOTSUP && errno != EINVAL) return false;
  // The disk has neither APFS nor HFS+.
  return RenameNewByLink(from_directory, from, to_directory, to);
}

bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (renameatx_np(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_SWAP) == 0) return true;
  if (errno == ENOTSUP) errno = EINVAL;
  return false;
}

}  // namespace keibi::platform
