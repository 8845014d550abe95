// SPDX-License-Identifier: MPL-2.0
#include "core/sha256.h"

// OpenSSL 3 deprecates the functions of <openssl/sha.h>, and a libcrypto of scripts/libcrypto hides them. EVP would
// bring its providers, 3 MB, into the mount host.
#include <openssl/configuration.h>
#undef OPENSSL_NO_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace keibi::core {

static_assert(kSha256Bytes == SHA256_DIGEST_LENGTH);

std::array<uint8_t, kSha256Bytes> Sha256(std::string_view first, std::string_view second) {
  // None of these calls can fail.
  SHA256_CTX hash;
  SHA256_Init(&hash);
  SHA256_Update(&hash, first.data(), first.size());
  SHA256_Update(&hash, second.data(), second.size());
  std::array<uint8_t, kSha256Bytes> digest;
  SHA256_Final(digest.data(), &hash);
  return digest;
}

}  // namespace keibi::core
