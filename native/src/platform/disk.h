// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

#include "core/status.h"

// Disk operations that POSIX does not define. One file per platform.
namespace keibi::platform {

// Makes a part of an open file read as zeros without changing its length: a hole if the file system supports holes.
// kDiskFull, kDestinationUnusable.
core::Status PunchHole(int fd, uint64_t offset, uint64_t bytes);

// Makes a file exactly `bytes` long and reserves disk space where the file system can, so that a write by mmap(2)
// cannot run out of space and end the process. Keeps the content. kDiskFull, kDestinationUnusable.
core::Status Reserve(int fd, uint64_t bytes);

// Whether some of a file's first `bytes` bytes were never written, as far as the file system can tell. Always false
// where data cannot reach the disk after a name does.
bool HasHole(int fd, uint64_t bytes);

inline constexpr uint64_t kWriteBehindWindow = uint64_t{64} << 20;
inline constexpr uint64_t kWriteBehindKept = 4 * kWriteBehindWindow;

// Call each time a very long file has been written up to `end`, so that it does not fill the page cache. At the end of
// a window this starts the window's write-out and drops the cached window kWriteBehindKept earlier, as far as the disk
// has it. Does not wait for the disk and gives no guarantee.
void WriteBehind(int fd, uint64_t end);

// Makes everything written so far to the file system of `fd` safe from a power cut. May take long: it also waits for
// other programs' writes. kDiskFull, kDestinationUnusable.
core::Status SyncFileSystem(int fd);

}  // namespace keibi::platform
