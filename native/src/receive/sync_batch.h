// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/status.h"
#include "receive/part_file.h"
#include "receive/staging.h"

namespace keibi::receive {

// A file whose bytes are all in staging.
struct Finished {
  uint32_t index = 0;
  std::string staged;              // its name in staging
  std::shared_ptr<PartFile> part;  // of a large file
  uint64_t bytes = 0;              // of the file
  uint64_t new_bytes = 0;          // of those, the bytes not yet counted as progress
};

// Holds the files of a --durable transfer between their last byte and their final name. One thread syncs the files
// collected so far, then hands them over to be placed. Meanwhile the next files collect, so many small files share one
// sync.
class SyncBatch {
 public:
  // Called on the batch's thread, once per file: its data is durable, or the status says why not.
  using Place = std::function<void(const Finished&, core::Status)>;

  SyncBatch(const Staging& staging, Place place);

  void Add(Finished file);  // any thread, never blocks
  void Stop();              // joins; files not yet synced stay in staging

 private:
  // Up to this many files are synced one by one, which does not wait for other data.
  static constexpr size_t kFewFiles = 4;

  void Run();
  core::Status Sync(const Finished& file) const;

  const Staging& staging_;
  const Place place_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Finished> gathered_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace keibi::receive
