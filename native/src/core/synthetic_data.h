// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace keibi::core {

// Fills at most a chunk with bytes that no disk or link can compress: the same bytes for the same offset, different
// bytes for another offset. As cheap as a copy, so that a measurement does not measure their generation. Any thread.
void FillWithSyntheticData(uint64_t offset, uint8_t* to, size_t bytes);

}  // namespace keibi::core
