// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace keibi::mount {

// When each part of a cached file was last used, so that the least recently used parts are evicted first. Any thread.
class BlockLru {
 public:
  // `blocks`: the length of the file.
  explicit BlockLru(uint32_t blocks)
      : blocks_(blocks),
        part_blocks_(std::max(kLeastPartBlocks, (blocks + kMostParts - 1) / kMostParts)),
        parts_((blocks + part_blocks_ - 1) / part_blocks_),
        used_(new std::atomic<uint64_t>[parts_] {}) {}

  // Marks blocks [first, end) as used at `now`, which only rises and is above 0.
  void Touch(uint32_t first, uint64_t end, uint64_t now) {
    end = std::min<uint64_t>(end, blocks_);
    if (first >= end) return;
    const auto last = static_cast<uint32_t>((end - 1) / part_blocks_);
    for (uint32_t part = first / part_blocks_; part <= last; part++) {
      used_[part].store(now, std::memory_order_relaxed);
    }
  }
  // The part was evicted.
  void Forget(uint32_t part) { used_[part].store(0, std::memory_order_relaxed); }

  uint32_t parts() const { return parts_; }
  uint64_t used(uint32_t part) const { return used_[part].load(std::memory_order_relaxed); }  // 0: never
  uint32_t first(uint32_t part) const { return part * part_blocks_; }
  uint32_t count(uint32_t part) const { return std::min(part_blocks_, blocks_ - first(part)); }

 private:
  static constexpr uint32_t kLeastPartBlocks = 256;  // 16 MiB
  static constexpr uint32_t kMostParts = 4096;

  const uint32_t blocks_;
  const uint32_t part_blocks_;
  const uint32_t parts_;
  const std::unique_ptr<std::atomic<uint64_t>[]> used_;
};

}  // namespace keibi::mount
