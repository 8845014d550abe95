// SPDX-License-Identifier: MPL-2.0
#include "core/secret.h"

#include <openssl/crypto.h>

namespace keibi::core {

void Wipe(void* memory, size_t bytes) { OPENSSL_cleanse(memory, bytes); }

}  // namespace keibi::core
