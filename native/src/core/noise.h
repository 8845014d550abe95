// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace keibi::core {

// Fills at most a chunk with bytes that no disk or link can compress; the same for the same offset, others for others.
// As cheap as a copy, so that what is measured with them is not the making of them. Any thread.
void FillWithNoise(uint64_t offset, uint8_t* to, size_t bytes);

}  // namespace keibi::core
