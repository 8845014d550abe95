// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "remote/block_signal.h"
#include "remote/cache_file.h"
#include "remote/read_window.h"

namespace keibi::remote {

inline constexpr uint32_t kNoLane = UINT32_MAX;

// A run of requested, missing blocks: at most a chunk, disjoint from all other runs.
struct AskedRun {
  uint32_t first = 0;
  uint32_t count = 0;
  bool ahead = false;
  uint32_t lane = kNoLane;  // the lane that is to deliver it; none while no lane has room
  ReadWindow::Clock::time_point asked;
};

// A want that waits for blocks.
struct Waiter {
  uint32_t want = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

// One file of a share as its guest reads it: cached blocks, requested blocks, and waiters. One thread at a time.
class ReadFile {
 public:
  ReadFile(std::string path, std::shared_ptr<CacheFile> cache, std::shared_ptr<BlockSignal> signal)
      : path(std::move(path)), cache(std::move(cache)), signal(std::move(signal)) {}

  // Requests those of these blocks that are neither cached nor requested; `fresh` receives each new run's first block.
  void AskFor(uint32_t first, uint32_t count, bool ahead, ReadWindow::Clock::time_point now,
              std::vector<uint32_t>* fresh);

  // The run that an answer at this offset belongs to, or null.
  AskedRun* Find(uint64_t offset);
  uint64_t BytesOf(const AskedRun& run) const;
  bool IsAwaited(const AskedRun& run) const;  // a waiter needs a block of it

  const std::string path;
  const std::shared_ptr<CacheFile> cache;
  const std::shared_ptr<BlockSignal> signal;  // null where no mount host listens
  std::map<uint32_t, AskedRun> asked;         // by first block
  std::vector<Waiter> waiters;
  std::optional<core::Status> failed;  // permanently: the file is missing, or has another version
  bool released = false;
};

}  // namespace keibi::remote
