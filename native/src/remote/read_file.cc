// SPDX-License-Identifier: MPL-2.0
#include "remote/read_file.h"

#include <algorithm>

#include "core/limits.h"

namespace keibi::remote {
namespace {

constexpr uint32_t kBlocksOfChunk = core::kChunkBytes / kCacheBlockBytes;

}  // namespace

void ReadFile::AskFor(uint32_t first, uint32_t count, bool ahead, ReadWindow::Clock::time_point now,
                      std::vector<uint32_t>* fresh) {
  const auto end = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{first} + count, cache->blocks()));
  for (uint32_t at = first; at < end;) {
    at = cache->FirstMissing(at, end - at);
    if (at >= end) break;
    auto next = asked.upper_bound(at);
    if (next != asked.begin()) {
      const AskedRun& before = std::prev(next)->second;
      if (before.first + before.count > at) {
        at = before.first + before.count;
        continue;
      }
    }
    uint32_t stop = std::min(end, (at / kBlocksOfChunk + 1) * kBlocksOfChunk);
    if (next != asked.end()) stop = std::min(stop, next->first);
    uint32_t blocks = 1;
    while (at + blocks < stop && !cache->Has(at + blocks)) blocks++;
    asked.emplace_hint(next, at, AskedRun{at, blocks, ahead, kNoLane, now});
    fresh->push_back(at);
    at += blocks;
  }
}

AskedRun* ReadFile::Find(uint64_t offset) {
  if (offset % kCacheBlockBytes != 0 || offset >= cache->size()) return nullptr;
  const auto found = asked.find(static_cast<uint32_t>(offset / kCacheBlockBytes));
  return found == asked.end() ? nullptr : &found->second;
}

bool ReadFile::IsAwaited(const AskedRun& run) const {
  return std::any_of(waiters.begin(), waiters.end(), [&](const Waiter& waiter) {
    return waiter.first < run.first + run.count && run.first < waiter.first + waiter.count;
  });
}

uint64_t ReadFile::BytesOf(const AskedRun& run) const {
  const uint64_t offset = uint64_t{run.first} * kCacheBlockBytes;
  return std::min(uint64_t{run.count} * kCacheBlockBytes, cache->size() - offset);
}

}  // namespace keibi::remote
