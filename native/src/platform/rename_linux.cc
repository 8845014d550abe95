// SPDX-License-Identifier: MPL-2.0
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "platform/rename.h"

namespace keibi::stream {
namespace {

bool Rename(int from_directory, const std::string& from, int to_directory, const std::string& to, unsigned flags) {
#ifdef __GLIBC__
  return renameat2(from_directory, from.c_str(), to_directory, to.c_str(), flags) == 0;
#else  // musl has no renameat2
  return syscall(SYS_renameat2, from_directory, from.c_str(), to_directory, to.c_str(), flags) == 0;
#endif
}

}  // namespace

bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  if (Rename(from_directory, from, to_directory, to, RENAME_NOREPLACE)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // NFS and a few others lack this flag.
  return RenameNewByLink(from_directory, from, to_directory, to);
}

bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to) {
  return Rename(from_directory, from, to_directory, to, RENAME_EXCHANGE);
}

}  // namespace keibi::stream
