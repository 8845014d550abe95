// SPDX-License-Identifier: MPL-2.0
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "platform/path_state.h"

// Written from the manual pages, never compiled (docs/PORTING.md). macOS reports neither the congestion control nor the
// time of the last acknowledgement.
namespace keibi::platform {

PathState PathOf(int fd) {
  constexpr uint32_t kUsPerMs = 1000;
  PathState state;
  tcp_connection_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &length) == 0) {
    state.rtt_us = info.tcpi_srtt * kUsPerMs;  // a mean, not the minimum
    state.waits = info.tcpi_snd_sbbytes > 0;
  }
  return state;
}

}  // namespace keibi::platform
