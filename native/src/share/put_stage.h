// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "disk/byte_range.h"

namespace keibi::share {

// The bytes of a put until its commit, at their offsets in the file. Small puts stay in memory; larger ones use an
// unnamed file on the disk of `directory`. Any thread.
class PutStage {
 public:
  static constexpr uint64_t kMostInMemory = uint64_t{128} << 10;
  static constexpr uint64_t kFarthestInMemory = uint64_t{1} << 40;

  explicit PutStage(core::Fd directory) : directory_(std::move(directory)) {}

  // kCallFailed with the errno: EFBIG for too many ranges.
  core::Status Write(uint64_t offset, const uint8_t* data, size_t bytes);
  // kCallFailed unless all of it was written before.
  core::Status Read(uint64_t offset, uint8_t* to, size_t bytes) const;
  // Frees the disk space of a part that is not read again.
  void Drop(uint64_t offset, size_t bytes) const;
  std::vector<disk::ByteRange> ranges() const;  // ascending, not adjacent
  int directory() const { return directory_.get(); }

 private:
  core::Status MakeRoomLocked(uint64_t offset, size_t bytes);
  void AddLocked(uint64_t from, uint64_t end);

  const core::Fd directory_;
  mutable std::mutex mutex_;
  core::Fd file_;
  bool on_disk_ = false;
  uint64_t written_ = 0;
  std::map<uint64_t, uint64_t> ranges_;  // from, end
};

}  // namespace keibi::share
