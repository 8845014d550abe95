// SPDX-License-Identifier: MPL-2.0
#include <sys/mount.h>
#include <sys/param.h>

#include <cerrno>

#include "fuse/mounted_folder.h"

// Written from the manual pages, never compiled (docs/PORTING.md).
namespace keibi::fuse {

int Unmount(const std::string& folder, bool forced) {
  if (unmount(folder.c_str(), forced ? MNT_FORCE : 0) == 0) return 0;
  return errno == EINVAL ? 0 : errno;  // EINVAL: nothing is mounted there any more
}

// macFUSE takes the read-ahead only as an option of the whole mount.
void KernelReadAhead::Attach(const std::string&) {}

void KernelReadAhead::Opening(uint64_t) {}

}  // namespace keibi::fuse
