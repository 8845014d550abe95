// SPDX-License-Identifier: MPL-2.0
#include "disk/named_scratch.h"
#include "disk/scratch_file.h"

namespace keibi::disk {

core::Fd OpenMemoryScratch() { return core::Fd(); }

core::Fd OpenDiskScratch(int directory) { return OpenNamedScratch(directory); }

}  // namespace keibi::disk
