// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "core/fd.h"

namespace keibi::stream {

// A file without a name, which goes with its descriptor. One implementation per system, chosen by the build.

// In memory. Invalid where the system has none.
core::Fd OpenMemoryScratch();
// On the disk of this directory. Invalid with errno.
core::Fd OpenDiskScratch(int directory);

}  // namespace keibi::stream
