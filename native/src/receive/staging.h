// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "manifest/entry.h"

namespace keibi::receive {

// The hidden folder in the destination that holds bytes until their file is whole:
//
//   .keibidrop-partial[-N]/lock       held with flock(2) by the one job that uses the folder
//                          s-ENTRY    a file about to be renamed into place; useless to a later run
//                          s-tN/ENTRY the same for a small file, in a folder of its thread: threads that create and
//                                     rename in one folder wait for each other
//                          KEY.data   a large file being received, KEY.map its bitmap (see PartFile)
//
// It is on the destination's file system, so that a rename places a whole file.
class Staging {
 public:
  // Takes the first folder that no live job holds. kDestinationUnusable, kDiskFull.
  core::Status Open(int destination);

  int fd() const { return folder_.get(); }
  mode_t umask() const { return umask_; }
  bool had_parts() const { return had_parts_; }  // an earlier run left something to resume

  // A name for a small file that the calling thread will create.
  static std::string SmallFileName(uint32_t entry);

  // Creates an empty file to be placed later. kDiskFull, kDestinationUnusable.
  core::Status Create(const std::string& name, mode_t mode, core::Fd* fd) const;
  void Remove(const std::string& name) const;

  // Removes files that are useless to a later run, and the folder unless parts are left in it; releases the lock.
  void Close();

 private:
  core::Status Take(int destination, const std::string& name);
  core::Status Sweep();
  template <typename See>
  static void ForEach(int folder, See see);
  void RemoveStaged() const;
  bool IsOrphan(const std::string& name) const;

  int destination_ = -1;
  std::string name_;
  core::Fd folder_;
  core::Fd lock_;
  mode_t umask_ = 022;
  bool had_parts_ = false;
};

}  // namespace keibi::receive
