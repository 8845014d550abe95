// SPDX-License-Identifier: MPL-2.0
#include "stream/named_scratch.h"
#include "stream/scratch_file.h"

namespace keibi::stream {

core::Fd OpenMemoryScratch() { return core::Fd(); }

core::Fd OpenDiskScratch(int directory) { return OpenNamedScratch(directory); }

}  // namespace keibi::stream
