// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "mount/overlay_file.h"

namespace keibi::fuse {

struct Parts;

// The overlays of files that programs write. Any thread.
class Overlays {
 public:
  explicit Overlays(Parts* parts) : parts_(*parts) {}

  // The overlay of a file, if it has a valid one.
  std::shared_ptr<mount::OverlayFile> OverlayOf(uint64_t ino);
  // Makes an overlay if there is none. Returns an errno, or 0. `bare`: the present content will not be read.
  int MakeOverlay(uint64_t ino, bool bare, std::shared_ptr<mount::OverlayFile>* overlay);
  // The time for a change of a file, in nanoseconds.
  static int64_t Now();

 private:
  Parts& parts_;
};

}  // namespace keibi::fuse
