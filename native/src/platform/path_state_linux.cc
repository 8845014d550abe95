// SPDX-License-Identifier: MPL-2.0
// <linux/tcp.h> and not <netinet/tcp.h>: glibc's tcp_info ends before tcpi_min_rtt.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "platform/path_state.h"

namespace keibi::platform {

PathState PathOf(int fd) {
  PathState state;
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0) {
    state.rtt_us = info.tcpi_min_rtt != UINT32_MAX ? info.tcpi_min_rtt : info.tcpi_rtt;
    state.silent_ms = info.tcpi_last_ack_recv;
    state.waits = info.tcpi_unacked > 0;
  }
  std::array<char, 16> name{};  // TCP_CA_NAME_MAX
  length = name.size() - 1;
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) == 0) state.control = name.data();
  return state;
}

}  // namespace keibi::platform
