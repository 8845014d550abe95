// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"

// ML-KEM-1024 (FIPS 203), by libcrypto 3.5 or later.
namespace keibi::kem {

constexpr size_t kPublicKeyBytes = 1568;
constexpr size_t kSecretKeyBytes = 3168;
constexpr size_t kCiphertextBytes = 1568;
constexpr size_t kSharedSecretBytes = 32;

bool HasMlKem1024();  // false: built with an older libcrypto, and every call below is kInternal

core::Status GenerateMlKem1024(uint8_t public_key[kPublicKeyBytes], uint8_t secret_key[kSecretKeyBytes]);

// kHandshakeMalformed for a key with a coefficient out of range (FIPS 203 7.2).
core::Status EncapsulateMlKem1024(const uint8_t public_key[kPublicKeyBytes], uint8_t ciphertext[kCiphertextBytes],
                                  uint8_t shared_secret[kSharedSecretBytes]);

// A ciphertext that was altered gives another secret, and no error (FIPS 203 6.3). kHandshakeMalformed for a secret key
// that is none.
core::Status DecapsulateMlKem1024(const uint8_t secret_key[kSecretKeyBytes], const uint8_t ciphertext[kCiphertextBytes],
                                  uint8_t shared_secret[kSharedSecretBytes]);

}  // namespace keibi::kem
