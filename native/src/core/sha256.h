// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keibi::core {

inline constexpr size_t kSha256Bytes = 32;

// SHA-256 by libcrypto of the parts in order, for names and numbers in which the other peer must not cause a collision.
// Not for secrets: the state is not cleared.
std::array<uint8_t, kSha256Bytes> Sha256(std::string_view first, std::string_view second = {});

}  // namespace keibi::core
