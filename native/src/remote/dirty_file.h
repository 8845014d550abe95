// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::remote {

// A mount's changes to a file, at their offsets in KEY.data of a directory, with the ranges to write (PROTOCOL 11.2).
// Read-only here.
class DirtyFile {
 public:
  // kSourceMissing, kSourceUnreadable.
  core::Status Open(const std::string& directory, const std::string& key);
  // Reads exactly `bytes` bytes. kSizeMismatch if there are fewer; kSourceUnreadable. Any thread.
  core::Status Read(uint64_t offset, uint8_t* to, size_t bytes) const;

 private:
  core::Fd data_;
};

}  // namespace keibi::remote
