// SPDX-License-Identifier: MPL-2.0
#include "fuse/mounted_folder.h"

// WinFsp removes a mount with the process that made it, even while it is in use, and its cache manager reads ahead by
// itself. Never compiled (docs/PORTING.md).
namespace keibi::fuse {

int Unmount(const std::string&, bool) { return 0; }

void KernelReadAhead::Attach(const std::string&) {}

void KernelReadAhead::Opening(uint64_t) {}

}  // namespace keibi::fuse
