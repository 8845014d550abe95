// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace keibi::platform {

// Copies the content of an open file into an empty one, cloning it if the file system can; holes stay holes. False with
// errno. One file per platform.
bool CopyContent(int from, int to, int64_t size);

// Copies [at, end) to the same offset; less if the file has become shorter. False with errno.
using CopyRange = bool(int from, int to, off_t at, off_t end);

// The fallback where content cannot be cloned: copies the data between the holes.
bool CopyData(int from, int to, int64_t size, CopyRange* copy);

}  // namespace keibi::platform
