// SPDX-License-Identifier: MPL-2.0
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "aead/cpu.h"

namespace keibi::aead {

bool CpuHasAes() {
  const unsigned long wanted = HWCAP_AES | HWCAP_PMULL;
  return (getauxval(AT_HWCAP) & wanted) == wanted;
}

}  // namespace keibi::aead
