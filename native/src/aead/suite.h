// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace keibi::aead {

enum class Suite : uint8_t { kAes256Gcm = 1, kChaCha20Poly1305 = 2 };  // the bits of PROTOCOL 3

inline constexpr size_t kKeyBytes = 32;
inline constexpr size_t kNonceBytes = 12;
inline constexpr size_t kTagBytes = 16;

const char* Label(Suite suite);  // the LABEL of PROTOCOL 3, for key derivation
bool HasHardwareAes();  // AES-NI and PCLMULQDQ (or ARMv8 AES); false when KD_NO_HARDWARE_AES is set, a switch for tests

}  // namespace keibi::aead
