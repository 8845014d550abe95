// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/mman.h>

#include "disk/named_scratch.h"
#include "disk/scratch_file.h"

namespace keibi::disk {

core::Fd OpenMemoryScratch() { return core::Fd(memfd_create("keibidrop-put", MFD_CLOEXEC)); }

core::Fd OpenDiskScratch(int directory) {
  core::Fd fd(openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  // Some file systems have no unnamed files.
  return fd.valid() ? std::move(fd) : OpenNamedScratch(directory);
}

}  // namespace keibi::disk
