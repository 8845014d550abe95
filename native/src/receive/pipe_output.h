// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/status.h"
#include "manifest/entry.h"
#include "manifest/entry_table.h"
#include "manifest/segment.h"
#include "receive/receive_ledger.h"

namespace keibi::receive {

// Writes the bytes of files one after another into a pipe, for `receive --stdout`. Such a transfer has one lane, so
// files arrive one after another and their bytes in order. On that lane's thread; no lock.
class PipeOutput {
 public:
  // Does not close `fd`. `stopped` ends a write that waits for the reader.
  PipeOutput(int fd, ReceiveLedger* ledger, const std::atomic<bool>& stopped)
      : fd_(fd), ledger_(ledger), stopped_(stopped) {}

  // kSizeMismatch if the segment is not the next one; kDestinationUnusable; kCancelled.
  core::Status Append(const manifest::Segment& segment, const manifest::Entry& entry);

 private:
  core::Status WriteHole(uint64_t bytes);
  core::Status Write(const uint8_t* data, size_t bytes) const;

  const int fd_;
  ReceiveLedger* const ledger_;
  const std::atomic<bool>& stopped_;
  uint32_t entry_ = manifest::kTop;  // being written
  uint64_t offset_ = 0;              // in it
};

}  // namespace keibi::receive
