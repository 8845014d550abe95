// SPDX-License-Identifier: MPL-2.0
#include "mount/ranges.h"

#include <algorithm>
#include <iterator>

namespace keibi::mount {

void Ranges::Add(uint64_t from, uint64_t end) {
  if (from >= end) return;
  auto at = map_.upper_bound(from);
  if (at != map_.begin() && std::prev(at)->second >= from) --at;
  while (at != map_.end() && at->first <= end) {
    from = std::min(from, at->first);
    end = std::max(end, at->second);
    bytes_ -= at->second - at->first;
    at = map_.erase(at);
  }
  map_.emplace_hint(at, from, end);
  bytes_ += end - from;
}

void Ranges::Add(const Ranges& others) {
  for (const auto& [from, end] : others.map_) Add(from, end);
}

void Ranges::Remove(uint64_t from, uint64_t end) {
  if (from >= end) return;
  auto at = map_.upper_bound(from);
  if (at != map_.begin() && std::prev(at)->second > from) --at;
  while (at != map_.end() && at->first < end) {
    const auto [first, last] = *at;
    bytes_ -= last - first;
    at = map_.erase(at);
    if (first < from) {
      map_.emplace_hint(at, first, from);
      bytes_ += from - first;
    }
    if (last > end) {
      at = map_.emplace_hint(at, end, last);
      bytes_ += last - end;
      return;
    }
  }
}

void Ranges::Clear() {
  map_.clear();
  bytes_ = 0;
}

bool Ranges::Covers(uint64_t from, uint64_t end) const {
  if (from >= end) return true;
  uint64_t first, first_end;
  return First(from, end, &first, &first_end) && first == from && first_end == end;
}

bool Ranges::First(uint64_t from, uint64_t end, uint64_t* first, uint64_t* first_end) const {
  auto at = map_.upper_bound(from);
  if (at != map_.begin() && std::prev(at)->second > from) --at;
  if (at == map_.end() || at->first >= end || from >= end) return false;
  *first = std::max(from, at->first);
  *first_end = std::min(end, at->second);
  return true;
}

}  // namespace keibi::mount
