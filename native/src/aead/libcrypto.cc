// SPDX-License-Identifier: MPL-2.0
#include "aead/libcrypto.h"

#include <openssl/crypto.h>

namespace keibi::aead {

void PrepareLibcrypto() { OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr); }

const char* LibcryptoVersion() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

}  // namespace keibi::aead
