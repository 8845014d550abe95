// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::stream {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// What a mount has changed of a file, at its offsets in KEY.data of a directory, and which parts of it are to be
// written (PROTOCOL 11.2). Only read here.
class Draft {
 public:
  // kSourceMissing, kSourceUnreadable.
  core::Status Open(const std::string& directory, const std::string& key);
  // Exactly so many bytes. kSizeMismatch where there are fewer; kSourceUnreadable. Any thread.
  core::Status Read(uint64_t offset, uint8_t* to, size_t bytes) const;

 private:
  core::Fd data_;
};

// Whether ranges ascend, are apart, and end within `size`.
bool AreInOrder(const std::vector<ByteRange>& ranges, uint64_t size);

// Of one put.
inline constexpr size_t kMaxRanges = size_t{1} << 16;

}  // namespace keibi::stream
