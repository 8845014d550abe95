// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keibi::core {

inline constexpr size_t kSha256Bytes = 32;

// SHA-256 (FIPS 180-4) of the parts, one after another, for names and numbers that the other peer must not make
// collide. No secrets and no amounts: libcrypto's is faster, and takes 3 MB more in the mount host, which has no other
// use for it.
std::array<uint8_t, kSha256Bytes> Sha256(std::string_view first, std::string_view second = {});

}  // namespace keibi::core
