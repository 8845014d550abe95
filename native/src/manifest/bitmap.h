// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/limits.h"

namespace keibi::manifest {

// The longest file whose chunks a 32-bit number can count: 4 PiB less one chunk, more than any disk's file system
// holds.
inline constexpr uint64_t kMaxChunkedBytes = uint64_t{UINT32_MAX} * core::kChunkBytes;

// `file_bytes` is at most kMaxChunkedBytes.
inline uint32_t ChunksOf(uint64_t file_bytes) {
  return static_cast<uint32_t>((file_bytes + core::kChunkBytes - 1) / core::kChunkBytes);
}

// A set of chunks: bit i of byte i/8, least significant first (PROTOCOL 7).
class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(uint32_t chunks) : chunks_(chunks), bytes_((chunks + 7) / 8) {}
  Bitmap(uint32_t chunks, const uint8_t* bytes) : chunks_(chunks), bytes_(bytes, bytes + (chunks + 7) / 8) {
    for (uint32_t i = 0; i < chunks; i++) held_ += Has(i);
  }

  bool Has(uint32_t chunk) const { return bytes_[chunk / 8] >> (chunk % 8) & 1; }
  // False if it was already set.
  bool Set(uint32_t chunk) {
    if (Has(chunk)) return false;
    bytes_[chunk / 8] |= static_cast<uint8_t>(1U << (chunk % 8));
    held_++;
    return true;
  }
  // The first chunk at or after `from` that is not in the set, or chunks().
  uint32_t NextMissing(uint32_t from) const {
    uint64_t at = from;  // 64 bits: a step of a whole byte may pass the largest possible chunk number
    while (at < chunks_ && Has(static_cast<uint32_t>(at))) at += at % 8 == 0 && bytes_[at / 8] == 0xFF ? 8 : 1;
    return at < chunks_ ? static_cast<uint32_t>(at) : chunks_;
  }
  uint32_t chunks() const { return chunks_; }
  uint32_t held() const { return held_; }
  bool complete() const { return held_ == chunks_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  uint32_t chunks_ = 0;
  uint32_t held_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace keibi::manifest
