// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Big-endian loads and stores, the byte order of every wire format (PROTOCOL, first paragraph). No alignment needed.
namespace keibi::core {

template <typename T>
inline T LoadBigEndian(const uint8_t* from) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); i++) value = static_cast<T>(static_cast<uint64_t>(value) << 8 | from[i]);
  return value;
}

template <typename T>
inline void StoreBigEndian(uint8_t* to, T value) {
  for (size_t i = 0; i < sizeof(T); i++)
    to[i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * (sizeof(T) - 1 - i)));
}

}  // namespace keibi::core
