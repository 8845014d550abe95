// SPDX-License-Identifier: MPL-2.0
#pragma once

namespace keibi::aead {

// Whether this processor multiplies and encrypts for AES-GCM in hardware. One file per architecture, chosen by the
// build.
bool CpuHasAes();

}  // namespace keibi::aead
