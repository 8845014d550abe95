// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/bytes.h"
#include "core/limits.h"

namespace keibi::manifest {

// The kind of a lane frame (PROTOCOL 5.2): the first byte of its plaintext.
enum class LaneFrame : uint8_t {
  kHello = 0,
  kSegments = 1,
  kEnd = 2,
  kAsks = 3,
  kRefusals = 4,
  kWrite = 5,
  kWritten = 6
};

// Segment flags.
inline constexpr uint8_t kEndOfStream = 1;
inline constexpr uint8_t kHole = 2;  // `length` counts chunks of zeros, and no bytes follow

// | entry 4 | flags 1 | offset 8 | length 4 |, then `length` bytes unless it is a hole
struct Segment {
  static constexpr size_t kHeaderBytes = 17;

  uint32_t entry = 0;
  uint8_t flags = 0;
  uint64_t offset = 0;
  uint32_t length = 0;
  const uint8_t* data = nullptr;

  bool IsHole() const { return (flags & kHole) != 0; }
  // The number of file bytes that it covers.
  uint64_t FileBytes(uint64_t file_size) const {
    return IsHole() ? std::min(uint64_t{length} * core::kChunkBytes, file_size - offset) : length;
  }

  void WriteHeader(uint8_t* to) const {
    core::StoreBigEndian<uint32_t>(to, entry);
    to[4] = flags;
    core::StoreBigEndian<uint64_t>(to + 5, offset);
    core::StoreBigEndian<uint32_t>(to + 13, length);
  }

  // Parses the segment at `*at` and moves `*at` past it. False if it does not fit before `end`.
  static bool Take(const uint8_t** at, const uint8_t* end, Segment* segment) {
    const uint8_t* from = *at;
    if (static_cast<size_t>(end - from) < kHeaderBytes) return false;
    segment->entry = core::LoadBigEndian<uint32_t>(from);
    segment->flags = from[4];
    segment->offset = core::LoadBigEndian<uint64_t>(from + 5);
    segment->length = core::LoadBigEndian<uint32_t>(from + 13);
    segment->data = from + kHeaderBytes;
    const size_t bytes = segment->IsHole() ? 0 : segment->length;
    if (static_cast<size_t>(end - segment->data) < bytes) return false;
    *at = segment->data + bytes;
    return true;
  }
};

}  // namespace keibi::manifest
