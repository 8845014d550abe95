// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace keibi::stream {

// Copies the content of an open file into an empty one, by the file system if it can, without its holes. False with
// errno. One file per platform.
bool CopyContent(int from, int to, int64_t size);

// Copies [at, end) to the same place; less where the file has become shorter. False with errno.
using CopyRange = bool(int from, int to, off_t at, off_t end);

// What every system does that cannot share the content: copies, as it can, what is between the holes.
bool CopyData(int from, int to, int64_t size, CopyRange* copy);

}  // namespace keibi::stream
