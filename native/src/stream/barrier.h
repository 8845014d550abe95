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
#include "stream/part_file.h"
#include "stream/staging.h"

namespace keibi::stream {

// A file of which every byte is in staging.
struct Finished {
  uint32_t index = 0;
  std::string staged;              // its name in staging
  std::shared_ptr<PartFile> part;  // of a large file
  uint64_t bytes = 0;              // of the file
  uint64_t new_bytes = 0;          // of them, those that progress has not counted yet
};

// Where the files of a --durable transfer wait between their last byte and their name. One thread makes safe what has
// gathered, then hands it on to be placed; meanwhile the next ones gather, so many small files share one sync.
class Barrier {
 public:
  // On the barrier's thread, once for each file: its data is on the disk for good, or could not be brought there.
  using Place = std::function<void(const Finished&, core::Status)>;

  Barrier(const Staging& staging, Place place);

  void Add(Finished file);  // any thread, never blocks
  void Stop();              // joins; what was not made safe by now is left in staging

 private:
  // Up to this many files are synced one by one, which waits for nothing but them.
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

}  // namespace keibi::stream
