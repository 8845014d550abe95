// SPDX-License-Identifier: MPL-2.0
#include "aead/cipher.h"

#include <openssl/evp.h>

#include <cstring>

#include "aead/libcrypto.h"
#include "core/secret.h"

namespace keibi::aead {
namespace {

// EVP_CipherUpdate takes null for `out` as additional data and null for `in` as the end, so empty texts are left out.
bool Update(EVP_CIPHER_CTX* context, uint8_t* out, const uint8_t* in, size_t bytes) {
  int written = 0;
  return bytes == 0 || EVP_CipherUpdate(context, out, &written, in, static_cast<int>(bytes)) == 1;
}

// -1 keeps the direction that the context was made for.
bool Begin(EVP_CIPHER_CTX* context, const uint8_t* nonce, const uint8_t* aad, size_t aad_bytes) {
  return EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce, -1) == 1 &&
         Update(context, nullptr, aad, aad_bytes);
}

}  // namespace

void Cipher::Free::operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }

Cipher::Cipher(Suite suite, Direction direction) {
  PrepareLibcrypto();
  context_.reset(EVP_CIPHER_CTX_new());
  const EVP_CIPHER* cipher = suite == Suite::kAes256Gcm ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
  const int encrypt = direction == Direction::kSeal ? 1 : 0;
  ready_ = context_ && EVP_CipherInit_ex(context_.get(), cipher, nullptr, nullptr, nullptr, encrypt) == 1;
}

bool Cipher::SetKey(const uint8_t key[kKeyBytes]) {
  return ready_ && EVP_CipherInit_ex(context_.get(), nullptr, nullptr, key, nullptr, -1) == 1;
}

bool Cipher::Seal(const uint8_t nonce[kNonceBytes], const uint8_t* aad, size_t aad_bytes, uint8_t* text,
                  size_t text_bytes, uint8_t tag[kTagBytes]) {
  int written = 0;
  return ready_ && Begin(context_.get(), nonce, aad, aad_bytes) && Update(context_.get(), text, text, text_bytes) &&
         EVP_CipherFinal_ex(context_.get(), text + text_bytes, &written) == 1 &&
         EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1;
}

bool Cipher::Open(const uint8_t nonce[kNonceBytes], const uint8_t* aad, size_t aad_bytes, uint8_t* text,
                  size_t text_bytes, const uint8_t tag[kTagBytes]) {
  int written = 0;
  const bool opened =
      ready_ && Begin(context_.get(), nonce, aad, aad_bytes) && Update(context_.get(), text, text, text_bytes) &&
      EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, const_cast<uint8_t*>(tag)) == 1 &&
      EVP_CipherFinal_ex(context_.get(), text + text_bytes, &written) == 1;
  if (!opened) core::Wipe(text, text_bytes);
  return opened;
}

}  // namespace keibi::aead
