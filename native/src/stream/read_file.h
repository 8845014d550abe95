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
#include "stream/cache_file.h"
#include "stream/doorbell.h"
#include "stream/read_window.h"

namespace keibi::stream {

inline constexpr uint32_t kNoLane = UINT32_MAX;

// Blocks that were asked for and are not here: at most a chunk, which no other ask has a part of.
struct AskedRun {
  uint32_t first = 0;
  uint32_t count = 0;
  bool ahead = false;
  uint32_t lane = kNoLane;  // which is to bring it; none while there is no lane with room
  ReadWindow::Clock::time_point asked;
};

// Somebody who waits for blocks.
struct Waiter {
  uint32_t want = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

// One file of a share as its guest reads it: what is here, what was asked for, and who waits. One thread at a time.
class ReadFile {
 public:
  ReadFile(std::string path, std::shared_ptr<CacheFile> cache, std::shared_ptr<Doorbell> bell)
      : path(std::move(path)), cache(std::move(cache)), bell(std::move(bell)) {}

  // Asks for what of these blocks is neither here nor asked for; `fresh` gets the first blocks of new runs.
  void AskFor(uint32_t first, uint32_t count, bool ahead, ReadWindow::Clock::time_point now,
              std::vector<uint32_t>* fresh);

  // The run that an answer at this offset belongs to, or null.
  AskedRun* Find(uint64_t offset);
  uint64_t BytesOf(const AskedRun& run) const;
  bool IsAwaited(const AskedRun& run) const;  // somebody waits for a block of it

  const std::string path;
  const std::shared_ptr<CacheFile> cache;
  const std::shared_ptr<Doorbell> bell;  // null where nobody listens
  std::map<uint32_t, AskedRun> asked;    // by first block
  std::vector<Waiter> waiters;
  std::optional<core::Status> failed;  // for good: it is not there, or another content is
  bool released = false;
};

}  // namespace keibi::stream
