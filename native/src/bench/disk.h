// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/status.h"

namespace keibi::bench {

// All of these block, and end soon after `stopped` with kCancelled.

// Writes a new file of `bytes` of noise in 1 MiB writes. The time includes fdatasync, so the page cache cannot flatter
// the result. The file is closed and complete only if ok. kDiskFull, kDestinationUnusable.
core::Status WriteToDisk(const std::string& path, uint64_t bytes, const std::atomic<bool>& stopped, double* seconds);

struct DiskRead {
  uint64_t bytes = 0;
  double seconds = 0;
  bool from_memory = false;  // the file system kept the file in memory (tmpfs does), so no disk was read
};

// Drops a file from the page cache, then reads it in 1 MiB reads. kSourceUnreadable.
core::Status ReadFromDisk(const std::string& path, const std::atomic<bool>& stopped, DiskRead* read);

// Writes a file's dirty pages to the disk and drops the file from the page cache. kSourceUnreadable.
core::Status FlushToDisk(const std::string& path, double* seconds);

}  // namespace keibi::bench
