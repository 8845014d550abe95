// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

#include "core/status.h"

// What POSIX does not say about a disk. One file per platform.
namespace keibi::stream {

// Makes a part of an open file read as zeros without changing its length: a hole where the file system has such a
// thing. kDiskFull, kDestinationUnusable.
core::Status PunchHole(int fd, uint64_t offset, uint64_t bytes);

// Makes a file exactly `bytes` long, with room on the disk for all of it where the file system can promise that: what
// is written to it by mmap(2) finds room then, and does not end the process. What it has stays. kDiskFull,
// kDestinationUnusable.
core::Status Reserve(int fd, uint64_t bytes);

// Whether some of a file's first `bytes` bytes were never written, as far as the file system can tell. False where data
// cannot come to the disk after a name does.
bool HasHole(int fd, uint64_t bytes);

inline constexpr uint64_t kWriteBehindWindow = uint64_t{64} << 20;
inline constexpr uint64_t kWriteBehindKept = 4 * kWriteBehindWindow;

// For a file so long that it would push everything else out of the page cache, each time it has been written up to
// `end`: at the end of a window the disk begins with it, and what came kWriteBehindKept before that is forgotten, as
// far as the disk has it. Does not wait for the disk; promises nothing.
void WriteBehind(int fd, uint64_t end);

// Everything written so far to the file system that `fd` is on is safe from a power cut. May take long: it waits for
// what other programs wrote, too. kDiskFull, kDestinationUnusable.
core::Status SyncFileSystem(int fd);

}  // namespace keibi::stream
