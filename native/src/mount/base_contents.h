// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "disk/file_version.h"
#include "remote/cache_file.h"

namespace keibi::mount {

// The version of a file at the other peer.
using disk::FileVersion;

// The cached blocks of the other peer's file below an overlay, in the cache files of some of its versions: all of them
// have the same bytes there. No lock: the overlay's guards it.
class BaseContents {
 public:
  // Adds the cache file of the newest version. Keeps few of them, the newest.
  void Add(const FileVersion& of, std::shared_ptr<remote::CacheFile> content);
  void Clear() { contents_.clear(); }

  // The cache file of the newest version, if that is `of`; else null.
  std::shared_ptr<remote::CacheFile> Newest(const FileVersion& of) const;
  // Reads the bytes `[from, end)`. False if some of them are not cached; `error` is set if they cannot be read.
  bool Read(uint64_t from, uint64_t end, uint8_t* to, int* error) const;

 private:
  std::vector<std::pair<FileVersion, std::shared_ptr<remote::CacheFile>>> contents_;
};

}  // namespace keibi::mount
