// SPDX-License-Identifier: MPL-2.0
#include "aead/suite.h"

#include <cstdlib>

#include "aead/cpu.h"

namespace keibi::aead {

const char* Label(Suite suite) {
  return suite == Suite::kAes256Gcm ? "KeibiDrop-AES-256-GCM-SEK" : "KeibiDrop-ChaCha20-Poly1305-SEK";
}

bool HasHardwareAes() {
  // Read once: getenv is not safe beside a thread that sets the environment.
  static const bool has = std::getenv("KD_NO_HARDWARE_AES") == nullptr && CpuHasAes();
  return has;
}

}  // namespace keibi::aead
