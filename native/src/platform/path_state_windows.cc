// SPDX-License-Identifier: MPL-2.0
// The second header needs the first.
// clang-format off
#include <winsock2.h>
#include <mstcpip.h>
// clang-format on

#include "platform/path_state.h"

// Written from the manual, never compiled (docs/PORTING.md). Windows reports neither the congestion control nor the
// time of the last acknowledgement. Needs Windows 10 1703.
namespace keibi::platform {

PathState PathOf(int fd) {
  PathState state;
  TCP_INFO_v0 info{};
  DWORD version = 0, length = 0;
  const auto socket = static_cast<SOCKET>(fd);
  if (WSAIoctl(socket, SIO_TCP_INFO, &version, sizeof version, &info, sizeof info, &length, nullptr, nullptr) == 0) {
    state.rtt_us = info.MinRttUs;
    state.waits = info.BytesInFlight > 0;
  }
  return state;
}

}  // namespace keibi::platform
