// SPDX-License-Identifier: MPL-2.0
#include "aead/cpu.h"

namespace keibi::aead {

bool CpuHasAes() { return false; }

}  // namespace keibi::aead
