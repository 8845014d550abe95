// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The limits of PROTOCOL 1. packages/protocol/src/limits.ts holds the same values; a test compares them.
namespace keibi::core {

inline constexpr size_t kChunkBytes = size_t{1} << 20;
inline constexpr size_t kMaxFramePlaintext = kChunkBytes + 4096;
inline constexpr uint64_t kRatchetBytes = uint64_t{1} << 30;
inline constexpr uint64_t kRatchetFrames = uint64_t{1} << 20;
inline constexpr uint32_t kMaxLanes = 16;
inline constexpr uint32_t kMaxLaneNumbers = 256;
inline constexpr size_t kMaxPageBytes = size_t{256} << 10;
inline constexpr uint32_t kMaxEntries = uint32_t{1} << 22;
inline constexpr size_t kMaxNameBytes = 255;
inline constexpr size_t kMaxTargetBytes = 4095;
inline constexpr uint32_t kMaxDepth = 4096;
inline constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 53) - 1;
inline constexpr uint64_t kMaxSparseBytes = uint64_t{1} << 44;
inline constexpr uint32_t kMaxHoleChunks = uint32_t{1} << 16;

}  // namespace keibi::core
