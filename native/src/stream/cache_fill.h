// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "stream/cache_file.h"

namespace keibi::stream {

// Which blocks of which file of a folder of this machine, and where they are wanted.
struct CacheFill {
  std::string folder, path;    // path: beneath the folder (beneath.h)
  std::string directory, key;  // of the cache
  CacheIdentity identity;
  uint32_t first = 0, count = 0;
};

// Copies the blocks that are not there yet. kSourceChanged if the file is another than the identity says, before or
// after; kSourceMissing, kSourceUnreadable, kPathRefused, kSizeMismatch (blocks that it does not have), kDiskFull,
// kDestinationUnusable. May block.
core::Status FillCache(const CacheFill& fill);

}  // namespace keibi::stream
