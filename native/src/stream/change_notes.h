// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
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

// What a watch has to tell, until it is taken. At most kMost changes are kept for who does not look. Any thread.
class ChangeNotes {
 public:
  static constexpr size_t kMost = 4096;

  // `wake` is called when there is something to take, once until it is taken.
  explicit ChangeNotes(Wake wake);

  void Watching();
  void Note(ChangeKind kind, const std::string& path);
  void Miss();
  void Trouble(core::Status status);  // something is missed, too; of several the first is told

  Changes Take();

 private:
  void MissLocked();
  void WakeLocked();

  const Wake wake_;
  std::mutex mutex_;
  std::map<std::string, ChangeKind> pending_;
  bool watching_ = false, missed_ = false, woken_ = false;
  core::Status trouble_;
};

}  // namespace keibi::stream
