// SPDX-License-Identifier: MPL-2.0
#pragma once

namespace keibi::aead {

// Must have been called before any other call into libcrypto: no openssl.cnf is read and no handler runs at process
// exit, where it would race with threads that still seal. Cheap to repeat; any thread.
void PrepareLibcrypto();

const char* LibcryptoVersion();  // "3.5.4"

}  // namespace keibi::aead
