// SPDX-License-Identifier: MPL-2.0
#include "platform/lock_ranges.h"

#include <algorithm>
#include <iterator>

namespace keibi::platform {

// Splits the range that spans `at` into two.
void LockRanges::Split(uint64_t at) {
  auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return;
  const auto before = std::prev(next);
  if (before->first == at || before->second.end <= at) return;
  ranges_.emplace(at, before->second);
  before->second.end = at;
}

void LockRanges::Set(const LockSpan& span, LockKind kind) {
  if (span.from >= span.end) return;
  Split(span.from);
  Split(span.end);
  ranges_.erase(ranges_.lower_bound(span.from), ranges_.lower_bound(span.end));
  if (kind == LockKind::kNone) return;
  auto set = ranges_.emplace(span.from, Held{span.end, kind}).first;
  // Merges with neighbours of the same kind.
  if (const auto next = std::next(set);
      next != ranges_.end() && next->first == set->second.end && next->second.kind == kind) {
    set->second.end = next->second.end;
    ranges_.erase(next);
  }
  if (set == ranges_.begin()) return;
  const auto before = std::prev(set);
  if (before->second.end != set->first || before->second.kind != kind) return;
  before->second.end = set->second.end;
  ranges_.erase(set);
}

std::vector<LockRanges::Range> LockRanges::Within(const LockSpan& span) const {
  std::vector<Range> within;
  for (const auto& [from, held] : ranges_) {
    const LockSpan cut{std::max(from, span.from), std::min(held.end, span.end)};
    if (cut.from < cut.end) within.push_back({cut, held.kind});
  }
  return within;
}

std::vector<LockSpan> SpansBeside(std::vector<LockSpan> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const LockSpan& one, const LockSpan& other) { return one.from < other.from; });
  std::vector<LockSpan> beside;
  uint64_t at = 0;
  for (const LockSpan& span : spans) {
    if (span.from > at) beside.push_back({at, span.from});
    at = std::max(at, span.end);
  }
  if (at < kLockEnd) beside.push_back({at, kLockEnd});
  return beside;
}

}  // namespace keibi::platform
