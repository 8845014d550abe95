// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bytes.h"
#include "core/limits.h"
#include "core/status.h"

namespace keibi::share {

// A guest's write to a file on a lane of a share (PROTOCOL 11.2). The handle comes from an OpenWrite of this session;
// the bytes are the rest of the frame.
//
//   | handle 4 | offset 8 | bytes |
struct Write {
  static constexpr size_t kHeaderBytes = 12;
  static constexpr uint32_t kMaxBytes = core::kChunkBytes;

  uint32_t handle = 0;
  uint64_t offset = 0;

  void WriteHeader(uint8_t* to) const {
    core::StoreBigEndian<uint32_t>(to, handle);
    core::StoreBigEndian<uint64_t>(to + 4, offset);
  }
  // False unless 1 to kMaxBytes bytes follow, all within the longest file.
  static bool Take(const uint8_t* from, size_t bytes, Write* write) {
    if (bytes <= kHeaderBytes || bytes - kHeaderBytes > kMaxBytes) return false;
    *write = {core::LoadBigEndian<uint32_t>(from), core::LoadBigEndian<uint64_t>(from + 4)};
    return write->offset <= core::kMaxFileBytes - (bytes - kHeaderBytes);
  }
};

// The outcome of one write, sent once pwrite(2) has returned.
//
//   | handle 4 | offset 8 | outcome 1 |
struct Written {
  enum class Outcome : uint8_t { kDone = 0, kNoRoom = 1, kQuota = 2, kTooLarge = 3, kFailed = 4, kClosed = 5 };
  static constexpr size_t kBytes = 13;

  uint32_t handle = 0;
  uint64_t offset = 0;
  Outcome outcome = Outcome::kFailed;

  void Append(std::vector<uint8_t>* to) const {
    const size_t at = to->size();
    to->resize(at + kBytes);
    core::StoreBigEndian<uint32_t>(to->data() + at, handle);
    core::StoreBigEndian<uint64_t>(to->data() + at + 4, offset);
    to->back() = static_cast<uint8_t>(outcome);
  }
  // Parses the record at `*at` and moves `*at` past it. False if there is no valid record.
  static bool Take(const uint8_t** at, const uint8_t* end, Written* written) {
    const uint8_t* const from = *at;
    if (static_cast<size_t>(end - from) < kBytes || from[12] > static_cast<uint8_t>(Outcome::kClosed)) return false;
    *written = {core::LoadBigEndian<uint32_t>(from), core::LoadBigEndian<uint64_t>(from + 4),
                static_cast<Outcome>(from[12])};
    *at = from + kBytes;
    return true;
  }
};

inline Written::Outcome OutcomeOf(core::Status status) {
  if (status.ok()) return Written::Outcome::kDone;
  if (status.code == core::Code::kCancelled) return Written::Outcome::kClosed;
  switch (status.system_error) {
    case ENOSPC:
      return Written::Outcome::kNoRoom;
    case EDQUOT:
      return Written::Outcome::kQuota;
    case EFBIG:
      return Written::Outcome::kTooLarge;
    default:
      return Written::Outcome::kFailed;
  }
}

// kCallFailed with the errno; kCancelled for kClosed.
inline core::Status StatusOf(Written::Outcome outcome) {
  switch (outcome) {
    case Written::Outcome::kDone:
      return core::Status::Ok();
    case Written::Outcome::kNoRoom:
      return core::Status::Of(core::Code::kCallFailed, ENOSPC);
    case Written::Outcome::kQuota:
      return core::Status::Of(core::Code::kCallFailed, EDQUOT);
    case Written::Outcome::kTooLarge:
      return core::Status::Of(core::Code::kCallFailed, EFBIG);
    case Written::Outcome::kClosed:
      return core::Status::Of(core::Code::kCancelled);
    case Written::Outcome::kFailed:
      break;
  }
  return core::Status::Of(core::Code::kCallFailed, EIO);
}

}  // namespace keibi::share
