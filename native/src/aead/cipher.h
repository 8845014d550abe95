// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aead/suite.h"

namespace keibi::aead {

// One AEAD in one direction under one key at a time. The key schedule is made once per key and reused for every nonce;
// that no nonce comes twice under a key is the caller's duty (frame/). One thread at a time.
class Cipher {
 public:
  enum class Direction : uint8_t { kSeal, kOpen };

  Cipher(Suite suite, Direction direction);

  // Each returns false if libcrypto failed (out of memory); nothing may be sealed or opened then.
  bool SetKey(const uint8_t key[kKeyBytes]);

  // In place; `tag` is written. Direction::kSeal only.
  bool Seal(const uint8_t nonce[kNonceBytes], const uint8_t* aad, size_t aad_bytes, uint8_t* text, size_t text_bytes,
            uint8_t tag[kTagBytes]);

  // In place; false also for a wrong tag, and `text` is zero then: nothing unauthenticated leaves. Direction::kOpen
  // only.
  bool Open(const uint8_t nonce[kNonceBytes], const uint8_t* aad, size_t aad_bytes, uint8_t* text, size_t text_bytes,
            const uint8_t tag[kTagBytes]);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const;
  };

  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
  bool ready_ = false;  // the cipher was chosen
};

}  // namespace keibi::aead
