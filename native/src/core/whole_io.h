// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

// pread(2) and pwrite(2), repeated until all bytes are done.
namespace keibi::core {

// Returns the bytes read, fewer than `bytes` only at the end of the file. Negative with errno.
ssize_t ReadWhole(int fd, uint8_t* to, size_t bytes, uint64_t offset);

// False with errno.
bool WriteWhole(int fd, const uint8_t* data, size_t bytes, uint64_t offset);

}  // namespace keibi::core
