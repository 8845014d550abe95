// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "core/status.h"

namespace keibi::share {

// A guest's frames on a lane of a share, and the answers that are not file bytes (PROTOCOL 11.1). The guest chooses
// file numbers for one lane: it names a file once, then refers to it by number.
//
//   name    | 1 | file 4 | size 8 | mtime 8 | path length 2 | path |
//   read    | 2 | file 4 | flags 1 | offset 8 | length 4 |               flags bit 0: ahead of its reader
//   forget  | 3 | file 4 |
struct ReadRequest {
  enum class Kind : uint8_t { kName = 1, kRead = 2, kForget = 3 };

  Kind kind = Kind::kRead;
  uint32_t file = 0;
  uint64_t size = 0;  // kName: size of the wanted version
  int64_t mtime_ns = 0;
  std::string_view path = {};  // points into the parsed bytes
  bool ahead = false;          // kRead
  uint64_t offset = 0;
  uint32_t length = 0;

  void Append(std::vector<uint8_t>* to) const;
  // Parses the record at `*at` and moves `*at` past it. False if there is no valid record.
  static bool Take(const uint8_t** at, const uint8_t* end, ReadRequest* ask);
};

// Why a read returns no bytes.
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

// Byte limits of one frame of asks, and of one read.
inline constexpr size_t kMaxReadRequestBytes = size_t{64} << 10;
inline constexpr uint32_t kMaxReadBytes = core::kChunkBytes;
// Limits of one lane: files named and not forgotten, the total length of their paths, unanswered reads.
inline constexpr size_t kMaxNamedFiles = 1024;
inline constexpr size_t kMaxNamedBytes = size_t{1} << 20;
inline constexpr size_t kMaxPendingReads = 4096;
// A path within a share (PROTOCOL 11).
inline constexpr size_t kMaxSharePathBytes = size_t{32} << 10;

}  // namespace keibi::share
