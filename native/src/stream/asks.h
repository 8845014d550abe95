// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "core/status.h"

namespace keibi::stream {

// What a guest writes on a lane of a share, and what is answered other than by bytes (PROTOCOL 11.1). The file number
// is the guest's own for one lane: named once, then asked for by it.
//
//   name    | 1 | file 4 | size 8 | mtime 8 | path length 2 | path |
//   read    | 2 | file 4 | flags 1 | offset 8 | length 4 |               flags bit 0: ahead of its reader
//   forget  | 3 | file 4 |
struct Ask {
  enum class Kind : uint8_t { kName = 1, kRead = 2, kForget = 3 };

  Kind kind = Kind::kRead;
  uint32_t file = 0;
  uint64_t size = 0;  // kName: the content that is meant
  int64_t mtime_ns = 0;
  std::string_view path = {};  // points into what it was taken from
  bool ahead = false;          // kRead
  uint64_t offset = 0;
  uint32_t length = 0;

  void Append(std::vector<uint8_t>* to) const;
  // Takes the record at `*at` and moves `*at` behind it. False when it is none.
  static bool Take(const uint8_t** at, const uint8_t* end, Ask* ask);
};

// Why a read brings no bytes.
//
//   | file 4 | offset 8 | reason 1 |
struct Refusal {
  enum class Reason : uint8_t { kMissing = 1, kUnreadable = 2, kChanged = 3, kPathRefused = 4, kForgotten = 5 };
  static constexpr size_t kBytes = 13;

  uint32_t file = 0;
  uint64_t offset = 0;
  Reason reason = Reason::kUnreadable;

  void Append(std::vector<uint8_t>* to) const;
  static bool Take(const uint8_t** at, const uint8_t* end, Refusal* refusal);
};

Refusal::Reason ReasonOf(core::Status status);
core::Status StatusOf(Refusal::Reason reason);  // kCancelled for kForgotten

// One frame of asks, and one read.
inline constexpr size_t kMaxAskBytes = size_t{64} << 10;
inline constexpr uint32_t kMaxReadBytes = core::kChunkBytes;
// Of one lane: files named and not forgotten, what their paths are long, reads not answered.
inline constexpr size_t kMaxNamedFiles = 1024;
inline constexpr size_t kMaxNamedBytes = size_t{1} << 20;
inline constexpr size_t kMaxPendingReads = 4096;
// A path within a share (PROTOCOL 11).
inline constexpr size_t kMaxSharePathBytes = size_t{32} << 10;

}  // namespace keibi::stream
