// SPDX-License-Identifier: MPL-2.0
#include "bench/network.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "bench/stopwatch.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/synthetic_data.h"
#include "net/socket.h"

namespace keibi::bench {

using core::Code;
using core::Status;

namespace {

constexpr std::chrono::seconds kDialTimeout{10};
constexpr int kRoundTrips = 5;

// Both ends of one TCP connection over the loopback interface.
Status ConnectedPair(const std::atomic<bool>& stopped, core::Fd* from, core::Fd* to) {
  const core::Fd listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!listening.valid() || bind(listening.get(), generic, size) != 0 || listen(listening.get(), 1) != 0 ||
      getsockname(listening.get(), generic, &size) != 0) {
    return Status::FromErrno(Code::kSessionLost);
  }
  if (const Status status = net::Dial("127.0.0.1", ntohs(address.sin_port), kDialTimeout, stopped, from);
      !status.ok()) {
    return status;
  }
  *to = core::Fd(accept(listening.get(), nullptr, nullptr));
  if (!to->valid()) return Status::FromErrno(Code::kSessionLost);
  net::TuneLane(to->get());
  return Status::Ok();
}

}  // namespace

Status MeasureLoopback(uint64_t bytes, const std::atomic<bool>& stopped, double* seconds) {
  core::Fd from, to;
  if (const Status status = ConnectedPair(stopped, &from, &to); !status.ok()) return status;
  std::vector<uint8_t> out(core::kChunkBytes), in(core::kChunkBytes);
  core::FillWithSyntheticData(0, out.data(), out.size());
  const auto next = [bytes](uint64_t moved) {
    return static_cast<size_t>(std::min<uint64_t>(core::kChunkBytes, bytes - moved));
  };
  const Stopwatch watch;
  std::thread sender([&] {
    for (uint64_t sent = 0; sent < bytes && !stopped.load();) {
      const ssize_t moved = send(from.get(), out.data(), next(sent), MSG_NOSIGNAL);
      if (moved < 0 && errno != EINTR) break;
      if (moved > 0) sent += static_cast<uint64_t>(moved);
    }
    shutdown(from.get(), SHUT_WR);  // the reader then sees the end of the stream
  });
  Status status = Status::Ok();
  for (uint64_t got = 0; status.ok() && got < bytes;) {
    const ssize_t moved = recv(to.get(), in.data(), next(got), MSG_WAITALL);
    if (moved == 0) status = Status::Of(Code::kSessionLost);
    if (moved < 0 && errno != EINTR) status = Status::FromErrno(Code::kSessionLost);
    if (moved > 0) got += static_cast<uint64_t>(moved);
  }
  *seconds = watch.seconds();
  shutdown(to.get(), SHUT_RDWR);
  sender.join();
  return stopped.load() ? Status::Of(Code::kCancelled) : status;
}

Status MeasureRoundTrip(const std::string& host, uint16_t port, const std::atomic<bool>& stopped, double* seconds) {
  *seconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRoundTrips; i++) {
    core::Fd socket;
    const Stopwatch watch;
    if (const Status status = net::Dial(host, port, kDialTimeout, stopped, &socket); !status.ok()) return status;
    *seconds = std::min(*seconds, watch.seconds());
  }
  return Status::Ok();
}

}  // namespace keibi::bench
