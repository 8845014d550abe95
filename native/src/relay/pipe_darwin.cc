// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "relay/pipe.h"

// Written from the manual pages, never compiled (docs/PORTING.md). There is no splice(2), so the bytes pass through
// this process: it peeks at them first, then consumes as many as it could forward.
namespace keibi::relay {
namespace {

constexpr size_t kStepBytes = size_t{64} << 10;

ssize_t Move(int from, int to, size_t most) {
  std::array<char, kStepBytes> buffer;
  const ssize_t seen = recv(from, buffer.data(), std::min(most, buffer.size()), MSG_PEEK | MSG_DONTWAIT);
  if (seen <= 0) return seen;
  const ssize_t sent = send(to, buffer.data(), static_cast<size_t>(seen), MSG_DONTWAIT);
  return sent <= 0 ? sent : recv(from, buffer.data(), static_cast<size_t>(sent), MSG_DONTWAIT);
}

}  // namespace

// A pair of sockets, because a pipe does not allow a peek.
std::unique_ptr<Pipe> Pipe::Open() {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return nullptr;
  auto pipe = std::make_unique<Pipe>();
  pipe->read_ = core::Fd(ends[0]);
  pipe->write_ = core::Fd(ends[1]);
  for (const int fd : ends) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return nullptr;
  }
  return pipe;
}

ssize_t Pipe::Fill(int from, size_t most) {
  const ssize_t moved = Move(from, write_.get(), most);
  if (moved > 0) held_ += static_cast<size_t>(moved);
  return moved;
}

ssize_t Pipe::Drain(int to) {
  const ssize_t moved = Move(read_.get(), to, held_);
  if (moved > 0) held_ -= static_cast<size_t>(moved);
  return moved;
}

}  // namespace keibi::relay
