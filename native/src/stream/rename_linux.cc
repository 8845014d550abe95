// SPDX-License-Identifier: MPL-2.0
#include <stdio.h>

#include <cerrno>

#include "stream/rename.h"

namespace keibi::stream {

bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // NFS and a few others lack this flag.
  return RenameNewByLink(from_directory, from, to_directory, to);
}

bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  return renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace keibi::stream
