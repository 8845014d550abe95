// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <memory>
#include <string>

#include "core/wake.h"
#include "share/change_notes.h"

namespace keibi::share {

// Watches a folder and everything below it on its own thread; follows no symlink. One file per system, chosen by the
// build.
class ChangeWatch {
 public:
  ChangeWatch(std::string folder, core::Wake wake);  // `wake`: as for ChangeNotes
  ~ChangeWatch();                                    // Stop() must have been called

  Changes Take() { return notes_.Take(); }
  void Stop();  // ends and joins the thread; idempotent

 private:
  class Thread;
  ChangeNotes notes_;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace keibi::share
