// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "remote/cache_file.h"

namespace keibi::remote {

// The blocks to copy from a file in a local folder, and their cache.
struct CacheFill {
  std::string folder, path;    // path: beneath the folder (beneath.h)
  std::string directory, key;  // of the cache
  CacheIdentity identity;
  uint32_t first = 0, count = 0;
};

// Copies the blocks that are missing. kSourceChanged if the file does not match the identity, before or after.
// kSourceMissing, kSourceUnreadable, kPathRefused, kSizeMismatch (blocks beyond the file), kDiskFull,
// kDestinationUnusable. May block.
core::Status FillCache(const CacheFill& fill);

}  // namespace keibi::remote
