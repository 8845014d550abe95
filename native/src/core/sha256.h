// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keibi::core {

inline constexpr size_t kSha256Bytes = 32;

// SHA-256 (FIPS 180-4) of the parts in order, for names and numbers in which the other peer must not cause a collision.
// Not for secrets or bulk data: libcrypto is faster, but costs 3 MB more in the mount host, which does not need it
// otherwise.
std::array<uint8_t, kSha256Bytes> Sha256(std::string_view first, std::string_view second = {});

}  // namespace keibi::core
