// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

namespace keibi::platform {

// The kernel's data about a connection's path; zeros and an empty name where it has none.
struct PathState {
  uint32_t rtt_us = 0;     // the shortest round trip so far
  std::string control;     // congestion control: "bbr", "cubic"
  uint32_t silent_ms = 0;  // since the other side's last acknowledgement
  bool waits = false;      // unacknowledged data is pending
};
PathState PathOf(int fd);

}  // namespace keibi::platform
