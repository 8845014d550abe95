// SPDX-License-Identifier: MPL-2.0
// Freed heap memory holds no key: operator delete searches each returned block for a pattern.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "frame/frame.h"

namespace {

constexpr uint8_t kPattern[] = {0x5e, 0xc4, 0xe7, 0x5e, 0xc4, 0xe7, 0x31, 0x41, 0x59, 0x26, 0x53, 0x58};
std::atomic<bool> looking{false};
std::atomic<int> found{0};

void Release(void* memory) {
  if (memory != nullptr && looking) {
    const auto* bytes = static_cast<const uint8_t*>(memory);
    const auto* end = bytes + malloc_usable_size(memory);
    if (std::search(bytes, end, std::begin(kPattern), std::end(kPattern)) != end) found++;
  }
  std::free(memory);
}

keibi::frame::Key PatternKey() {
  uint8_t bytes[32] = {};
  std::copy(std::begin(kPattern), std::end(kPattern), bytes + 4);
  return keibi::frame::Key(bytes);
}

}  // namespace

void* operator new(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t) noexcept { Release(memory); }

TEST(WipedMemoryTest, FindsAPatternInFreedMemory) {
  looking = true;
  found = 0;
  { std::vector<uint8_t> copy(std::begin(kPattern), std::end(kPattern)); }
  looking = false;
  EXPECT_EQ(found, 1);
}

TEST(WipedMemoryTest, ARekeyFreesNoCopyOfItsSecret) {
  const auto key = PatternKey();
  const auto fresh = PatternKey();
  looking = true;
  found = 0;
  { const auto next = keibi::frame::Expand(key, "KeibiDrop rekey", fresh.data(), fresh.size()); }
  looking = false;
  EXPECT_EQ(found, 0);
}
