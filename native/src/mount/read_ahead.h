// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace keibi::mount {

// Plans the prefetch for one open file; one thread at a time. The window starts at 128 KiB after sequential reads, then
// doubles, and never exceeds the length read in order. A jump resets it.
class ReadAhead {
 public:
  struct Plan {
    uint32_t from = 0, count = 0;  // in blocks
    bool left = false;             // the reader has jumped away from the prefetched blocks
  };

  // Whether all of `[first, end)` was requested already.
  bool Asked(uint32_t first, uint32_t end) const { return begun_ <= first && end <= asked_; }

  // Prefetched blocks from `first` on did not arrive: they must be requested again.
  void Missed(uint32_t first) { asked_ = std::min(asked_, first); }

  // The reader reads `[first, end)` of a file of `blocks`; `most` is the longest window.
  Plan Next(uint32_t first, uint32_t end, uint32_t blocks, uint32_t most) {
    if (!Follows(first, end)) {
      const bool left = asked_ > next_ && next_ > 0;
      begun_ = first;
      next_ = end;
      earned_ = end - first;
      asked_ = window_ = skipped_ = 0;
      // A small file costs one round trip.
      if (first > 0 || blocks > kSmallFile || blocks <= end) return {.left = left};
      asked_ = blocks;
      return {end, blocks - end, left};
    }
    begun_ = std::min(begun_, first);
    next_ = std::max(next_, end);
    asked_ = std::max(asked_, next_);
    if (earned_ <= kUnearned) return {};
    const auto longest = static_cast<uint32_t>(std::min<int64_t>(earned_, most));
    window_ = std::clamp(window_, std::min(kFirstWindow, longest), longest);
    if (asked_ - next_ > window_ / 2) return {};
    const auto stop = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{next_} + window_, blocks));
    if (stop <= asked_) return {};
    const Plan plan{asked_, stop - asked_};
    asked_ = stop;
    window_ = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{window_} * 2, most));
    return plan;
  }

 private:
  static constexpr uint32_t kSlack = 64;
  static constexpr uint32_t kLate = 256;
  static constexpr uint32_t kFirstWindow = 2;
  static constexpr uint32_t kSmallFile = 4;
  // The kernel itself reads this far ahead for a program that reads no more than 64 KiB.
  static constexpr int64_t kUnearned = 4;

  // Whether the range continues the sequential read; updates `earned_`. The kernel's own read-ahead may arrive out of
  // order: a gap costs as many blocks as it would earn, until it is read.
  bool Follows(uint32_t first, uint32_t end) {
    if (next_ == 0 || first > uint64_t{next_} + kSlack || uint64_t{end} + kLate < next_) return false;
    if (first > next_) {
      earned_ += int64_t{end - first} - int64_t{first - next_};
      skipped_ += first - next_;
    } else if (end > next_) {
      earned_ += end - next_;
    } else {
      const uint32_t late = std::min(skipped_, end - first);
      earned_ += late;
      skipped_ -= late;
    }
    return earned_ >= 0;
  }

  uint32_t begun_ = 0;  // start of the sequential run
  uint32_t next_ = 0;   // end of the blocks read
  uint32_t asked_ = 0;  // end of the blocks requested
  uint32_t window_ = 0;
  uint32_t skipped_ = 0;  // blocks before `next_` that were not read
  int64_t earned_ = 0;    // read in order since the jump
};

}  // namespace keibi::mount
