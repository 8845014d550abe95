// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace keibi::mount {

// What to ask for before it is read, for one open file. Who reads on gets a window that doubles; who jumps gets what
// is read and nothing else. One thread at a time.
class ReadAhead {
 public:
  struct Plan {
    uint32_t from = 0, count = 0;  // in blocks
  };

  // Whether all of `[first, end)` was asked for already.
  bool Asked(uint32_t first, uint32_t end) const { return begun_ <= first && end <= asked_; }

  // What was asked for behind `first` has not come: perhaps nobody has taken it in.
  void Missed(uint32_t first) { asked_ = std::min(asked_, first); }

  // `[first, end)` is being read of a file of `blocks`; `most` is the longest window.
  Plan Next(uint32_t first, uint32_t end, uint32_t blocks, uint32_t most) {
    // The kernel reads ahead too, with several requests at once, of which some thread may be late.
    const bool on = first <= uint64_t{next_} + kSlack && uint64_t{end} + kLate >= next_;
    if (!on) {
      begun_ = first;
      next_ = end;
      asked_ = window_ = 0;
      return {};
    }
    next_ = std::max(next_, end);
    asked_ = std::max(asked_, next_);
    window_ = std::clamp(window_, std::min(kFirstWindow, most), most);
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
  static constexpr uint32_t kFirstWindow = 16;

  uint32_t begun_ = 0;  // where it was jumped to
  uint32_t next_ = 0;   // behind what was read
  uint32_t asked_ = 0;  // behind what was asked for
  uint32_t window_ = 0;
};

}  // namespace keibi::mount
