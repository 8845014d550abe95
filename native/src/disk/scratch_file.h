// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "core/fd.h"

namespace keibi::disk {

// A file without a name, which ends with its descriptor. One implementation per system, chosen by the build.

// In memory. Invalid where the system has no such file.
core::Fd OpenMemoryScratch();
// On this directory's disk. Invalid with errno.
core::Fd OpenDiskScratch(int directory);

}  // namespace keibi::disk
