// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"

namespace keibi::platform {

// kDiskFull for errnos that mean a full disk, otherwise `otherwise`.
core::Status WriteError(core::Code otherwise);

// Writes exactly `bytes`. kDiskFull, kDestinationUnusable.
core::Status WriteAt(int fd, const uint8_t* data, size_t bytes, uint64_t offset);
// Writes zeros from `offset` to `end`. Errors as of WriteAt.
core::Status WriteZeros(int fd, uint64_t offset, uint64_t end);

}  // namespace keibi::platform
