// SPDX-License-Identifier: MPL-2.0
#include <cpuid.h>

#include "aead/cpu.h"

namespace keibi::aead {

// By the instruction itself: compiler-rt of Zig lacks what __builtin_cpu_supports calls.
bool CpuHasAes() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const unsigned wanted = bit_AES | bit_PCLMUL;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & wanted) == wanted;
}

}  // namespace keibi::aead
