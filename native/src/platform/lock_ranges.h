// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace keibi::platform {

// The end of a lock that reaches to the end of its file, however long the file grows.
inline constexpr uint64_t kLockEnd = uint64_t{1} << 63;

enum class LockKind : uint8_t { kNone = 0, kShared = 1, kExclusive = 2 };

// Bytes [from, end) of a file.
struct LockSpan {
  uint64_t from = 0, end = kLockEnd;
  bool operator==(const LockSpan&) const = default;
};

// One owner's locks on a file, as in fcntl(2): a new lock replaces the parts it covers. One thread.
class LockRanges {
 public:
  struct Range {
    LockSpan span;
    LockKind kind = LockKind::kNone;
    bool operator==(const Range&) const = default;
  };

  void Set(const LockSpan& span, LockKind kind);

  bool empty() const { return ranges_.empty(); }
  size_t count() const { return ranges_.size(); }
  std::vector<Range> Within(const LockSpan& span) const;  // ascending, cut to the span
  bool Touches(const LockSpan& span) const { return !Within(span).empty(); }

 private:
  struct Held {
    uint64_t end;
    LockKind kind;
  };
  void Split(uint64_t at);

  std::map<uint64_t, Held> ranges_;  // by start offset
};

// The parts of a whole file that these spans do not cover.
std::vector<LockSpan> SpansBeside(std::vector<LockSpan> spans);

}  // namespace keibi::platform
