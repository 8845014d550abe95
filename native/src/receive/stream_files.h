// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "core/fd.h"
#include "core/status.h"
#include "manifest/entry.h"
#include "manifest/segment.h"
#include "receive/file_placer.h"
#include "receive/receive_ledger.h"
#include "receive/staging.h"

namespace keibi::receive {

// The files of unknown length that are being received: each arrives in order, on one lane. Any thread. `mutex_` is
// held while a segment is written; the locks of the ledger and of the parts may be taken within it.
class StreamFiles {
 public:
  StreamFiles(const Staging& staging, ReceiveLedger* ledger, FilePlacer* placer)
      : staging_(staging), ledger_(ledger), placer_(placer) {}

  // Appends a segment, and places the file after its last one. kSizeMismatch if it is not the next one,
  // kLimitExceeded if the sender has begun too many files.
  core::Status Append(const manifest::Segment& segment, const manifest::Entry& entry);
  void Close();  // leaves files that are not whole in staging

 private:
  struct OpenStream {
    core::Fd fd;
    uint64_t bytes = 0;
  };

  const Staging& staging_;
  ReceiveLedger* const ledger_;
  FilePlacer* const placer_;
  std::mutex mutex_;
  std::unordered_map<uint32_t, OpenStream> open_;
};

}  // namespace keibi::receive
