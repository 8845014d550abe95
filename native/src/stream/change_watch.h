// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <memory>
#include <string>

#include "stream/change_notes.h"
#include "stream/wake.h"

namespace keibi::stream {

// Watches a folder with all that is below it, on a thread of its own; no symlink is followed. One file per system,
// chosen by the build.
class ChangeWatch {
 public:
  ChangeWatch(std::string folder, Wake wake);  // `wake` as that of ChangeNotes
  ~ChangeWatch();                              // Stop() must have been called

  Changes Take() { return notes_.Take(); }
  void Stop();  // ends and joins the thread; idempotent

 private:
  class Thread;
  ChangeNotes notes_;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace keibi::stream
