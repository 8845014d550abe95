// SPDX-License-Identifier: MPL-2.0
#include "core/synthetic_data.h"

#include <cassert>
#include <cstring>
#include <vector>

#include "core/bytes.h"
#include "core/limits.h"

namespace keibi::core {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
std::vector<uint8_t> MakeNoise() {
  std::vector<uint8_t> noise(kChunkBytes);
  uint64_t state = 0;
  for (size_t at = 0; at < noise.size(); at += sizeof state) {
    uint64_t word = state += 0x9E3779B97F4A7C15;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
    StoreBigEndian<uint64_t>(noise.data() + at, word ^ (word >> 31));
  }
  return noise;
}

}  // namespace

void FillWithSyntheticData(uint64_t offset, uint8_t* to, size_t bytes) {
  static const std::vector<uint8_t> noise = MakeNoise();
  assert(bytes <= noise.size());
  std::memcpy(to, noise.data(), bytes);
  if (bytes >= sizeof offset) StoreBigEndian<uint64_t>(to, offset);
}

}  // namespace keibi::core
