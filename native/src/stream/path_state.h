// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

namespace keibi::stream {

// What the kernel knows of a connection's path; zeros and an empty name where it does not say.
struct PathState {
  uint32_t rtt_us = 0;     // the least round trip so far
  std::string control;     // of congestion: "bbr", "cubic"
  uint32_t silent_ms = 0;  // since the other side's last acknowledgement
  bool waits = false;      // for the acknowledgement of something that was sent
};
PathState PathOf(int fd);

}  // namespace keibi::stream
