// SPDX-License-Identifier: MPL-2.0
#include <linux/fs.h>

#include <cerrno>

#include "platform/rename.h"

namespace keibi::platform {

bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (RenameAt2(from_directory, from, to_directory, to, RENAME_NOREPLACE)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // NFS and a few others lack this flag.
  return RenameNewByLink(from_directory, from, to_directory, to);
}

bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  return RenameAt2(from_directory, from, to_directory, to, RENAME_EXCHANGE);
}

}  // namespace keibi::platform
