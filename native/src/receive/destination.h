// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/fd.h"
#include "core/status.h"
#include "disk/dir_handles.h"
#include "manifest/entry_table.h"
#include "receive/staging.h"

namespace keibi::receive {

// How to treat an entry whose name is already taken.
enum class Collision : uint8_t { kRename = 0, kOverwrite = 1, kSkip = 2, kAsk = 3 };

// The plan's result for one entry.
enum class Found : uint8_t { kAbsent, kUpToDate, kSkipped, kCollides };

// The receiving folder: everything that touches final names. Below it no symlink is followed, and nothing is replaced
// unless requested.
class Destination {
 public:
  // `policy` applies when a name was free at Examine but is taken later.
  Destination(const manifest::EntryTable& table, Collision policy);

  // Creates it if needed; kDestinationUnusable. With a root, an absolute folder that a person has named, `path` must be
  // that folder or be below it without a symlink: kFolderNotAllowed.
  core::Status Open(const std::string& path, const std::string& root = {});
  int fd() const { return folder_.get(); }

  // Checks whether a file or symlink entry can take its name. kCollides only for kAsk; a rename is decided and
  // remembered here.
  core::Status Examine(uint32_t index, const manifest::Entry& entry, Collision policy, Found* found);

  core::Status MakeDirectory(uint32_t index, const manifest::Entry& entry, Collision policy);
  core::Status MakeSymlink(uint32_t index, const manifest::Entry& entry, const Staging& staging);

  // Gives a finished file in staging its final name.
  core::Status Place(uint32_t index, const manifest::Entry& entry, const Staging& staging, const std::string& staged);

  // Sets mode and mtime of every directory, deepest first. Call when nothing more will be put into them.
  void FinishDirectories(const std::function<void(uint32_t index, core::Status)>& on_failed);

  // The entry's present or future path, relative to the destination.
  std::string FinalPath(uint32_t index);
  // Marks the entry's file as damaged by a special mtime and lets this run replace it; later runs recognise the mtime.
  core::Status MarkDamaged(uint32_t index, const manifest::Entry& entry);
  // Opens a placed file for reading.
  core::Status OpenPlaced(uint32_t index, const manifest::Entry& entry, core::Fd* fd);

  void CloseDirectories() { dirs_.Close(); }  // frees their descriptors

 private:
  std::string NameOf(uint32_t index, const manifest::Entry& entry);
  bool MayReplace(uint32_t index);
  void LetReplace(uint32_t index);
  core::Status ParentOf(const manifest::Entry& entry, int* fd, disk::SharedFd* keep);
  core::Status OpenNamed(const std::string& path);
  core::Status OpenBelow(const std::string& root, const std::string& path);
  core::Status FreeName(int parent, uint32_t index, const manifest::Entry& entry, Found* found);

  core::Status OpenToWrite(int parent, const std::string& name);
  bool MayRename(uint32_t index);

  const manifest::EntryTable& table_;
  const Collision policy_;
  core::Fd folder_;
  disk::DirHandles dirs_;
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::string> renamed_;
  std::unordered_set<uint32_t> replacing_;
};

}  // namespace keibi::receive
