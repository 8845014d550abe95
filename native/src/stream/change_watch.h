// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "stream/wake.h"

namespace keibi::stream {

// What has become of a path. Of a directory that was made, moved here or removed it holds for everything below.
enum class ChangeKind : uint8_t { kMade = 1, kChanged = 2, kRemoved = 3 };

struct Change {
  ChangeKind kind;
  std::string path;  // below the folder, names joined by '/'
};

// What has changed since the last look, each path once.
struct Changes {
  std::vector<Change> changes;
  bool watching = false;  // the folder is watched from top to bottom: nothing is missed from now on
  bool missed = false;    // more has changed than is told here: everything may have
  core::Status trouble;   // why a part of the folder is not watched, if so
};

// Watches a folder with all that is below it, on a thread of its own; no symlink is followed. One file per system,
// chosen by the build. At most kMostChanges are kept for who does not look.
class ChangeWatch {
 public:
  static constexpr size_t kMostChanges = 4096;

  // `wake` is called when there is something to take, once until it is taken.
  ChangeWatch(std::string folder, Wake wake);
  ~ChangeWatch();  // Stop() must have been called

  Changes Take();
  void Stop();  // ends and joins the thread; idempotent

 private:
  class Thread;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace keibi::stream
