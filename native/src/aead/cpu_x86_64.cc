// SPDX-License-Identifier: MPL-2.0
#include "aead/cpu.h"

namespace keibi::aead {

bool CpuHasAes() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}

}  // namespace keibi::aead
