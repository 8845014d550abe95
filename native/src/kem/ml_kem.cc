// SPDX-License-Identifier: MPL-2.0
#include "kem/ml_kem.h"

#include <openssl/evp.h>
#include <openssl/opensslv.h>

#include <memory>

#include "aead/libcrypto.h"

namespace keibi::kem {

using core::Code;
using core::Status;

#if OPENSSL_VERSION_PREREQ(3, 5)

namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }  // wipes a secret key
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_PKEY_CTX, Free>;

constexpr const char* kName = "ML-KEM-1024";

Context ContextOf(const Key& key) {
  return Context(key ? EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr) : nullptr);
}

}  // namespace

bool HasMlKem1024() { return true; }

Status GenerateMlKem1024(uint8_t public_key[kPublicKeyBytes], uint8_t secret_key[kSecretKeyBytes]) {
  aead::PrepareLibcrypto();
  const Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, kName));
  size_t public_bytes = kPublicKeyBytes, secret_bytes = kSecretKeyBytes;
  const bool made = key && EVP_PKEY_get_raw_public_key(key.get(), public_key, &public_bytes) == 1 &&
                    EVP_PKEY_get_raw_private_key(key.get(), secret_key, &secret_bytes) == 1 &&
                    public_bytes == kPublicKeyBytes && secret_bytes == kSecretKeyBytes;
  return made ? Status::Ok() : Status::Of(Code::kInternal);
}

Status EncapsulateMlKem1024(const uint8_t public_key[kPublicKeyBytes], uint8_t ciphertext[kCiphertextBytes],
                            uint8_t shared_secret[kSharedSecretBytes]) {
  aead::PrepareLibcrypto();
  const Key key(EVP_PKEY_new_raw_public_key_ex(nullptr, kName, nullptr, public_key, kPublicKeyBytes));
  if (!key) return Status::Of(Code::kHandshakeMalformed);
  const Context context = ContextOf(key);
  size_t ciphertext_bytes = kCiphertextBytes, secret_bytes = kSharedSecretBytes;
  const bool done =
      context && EVP_PKEY_encapsulate_init(context.get(), nullptr) == 1 &&
      EVP_PKEY_encapsulate(context.get(), ciphertext, &ciphertext_bytes, shared_secret, &secret_bytes) == 1;
  return done ? Status::Ok() : Status::Of(Code::kInternal);
}

Status DecapsulateMlKem1024(const uint8_t secret_key[kSecretKeyBytes], const uint8_t ciphertext[kCiphertextBytes],
                            uint8_t shared_secret[kSharedSecretBytes]) {
  aead::PrepareLibcrypto();
  const Key key(EVP_PKEY_new_raw_private_key_ex(nullptr, kName, nullptr, secret_key, kSecretKeyBytes));
  if (!key) return Status::Of(Code::kHandshakeMalformed);
  const Context context = ContextOf(key);
  size_t secret_bytes = kSharedSecretBytes;
  const bool done =
      context && EVP_PKEY_decapsulate_init(context.get(), nullptr) == 1 &&
      EVP_PKEY_decapsulate(context.get(), shared_secret, &secret_bytes, ciphertext, kCiphertextBytes) == 1;
  return done ? Status::Ok() : Status::Of(Code::kInternal);
}

#else

bool HasMlKem1024() { return false; }

Status GenerateMlKem1024(uint8_t*, uint8_t*) { return Status::Of(Code::kInternal); }
Status EncapsulateMlKem1024(const uint8_t*, uint8_t*, uint8_t*) { return Status::Of(Code::kInternal); }
Status DecapsulateMlKem1024(const uint8_t*, const uint8_t*, uint8_t*) { return Status::Of(Code::kInternal); }

#endif

}  // namespace keibi::kem
