// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/wake.h"

namespace keibi::share {

// The change of a path. All kinds but kChanged cover everything below a directory.
enum class ChangeKind : uint8_t {
  kReplaced = 1,  // another entry has this path: moved here, or removed and created again
  kChanged = 2,   // content, size, time or mode
  kRemoved = 3,   // nothing has this path
  kCreated = 4,   // a new entry under a free name
};

struct Change {
  ChangeKind kind;
  std::string path;  // below the folder, names joined by '/'
};

// The changes since the last Take, each path once.
struct Changes {
  std::vector<Change> changes;
  bool watching = false;  // the whole tree is watched: no change is missed from now on
  bool missed = false;    // the list is incomplete: anything may have changed
  core::Status trouble;   // why a part of the folder is not watched, if it is not
};

// Collects a watch's changes until they are taken. Keeps at most kMost changes between two calls of Take. Any thread.
class ChangeNotes {
 public:
  static constexpr size_t kMost = 4096;

  // `wake` is called when there is something to take, once until it is taken.
  explicit ChangeNotes(core::Wake wake);

  void Watching();
  void Note(ChangeKind kind, const std::string& path);
  void Miss();
  void Trouble(core::Status status);  // also means missed changes; only the first trouble is reported

  Changes Take();

 private:
  void MissLocked();
  void WakeLocked();

  const core::Wake wake_;
  std::mutex mutex_;
  std::map<std::string, ChangeKind> pending_;
  bool watching_ = false, missed_ = false, woken_ = false;
  core::Status trouble_;
};

}  // namespace keibi::share
