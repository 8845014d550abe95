// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "relay/pipe.h"

namespace keibi::relay {
namespace {

constexpr size_t kPipeBytes = 1 << 20;  // two system calls per MiB; a smaller grant by the system only costs more calls
constexpr unsigned kFlags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;

}  // namespace

std::unique_ptr<Pipe> Pipe::Open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return nullptr;
  auto pipe = std::make_unique<Pipe>();
  pipe->read_ = core::Fd(ends[0]);
  pipe->write_ = core::Fd(ends[1]);
  fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kPipeBytes));
  return pipe;
}

ssize_t Pipe::Fill(int from, size_t most) {
  const ssize_t moved = splice(from, nullptr, write_.get(), nullptr, std::min(most, kPipeBytes), kFlags);
  if (moved > 0) held_ += static_cast<size_t>(moved);
  return moved;
}

ssize_t Pipe::Drain(int to) {
  const ssize_t moved = splice(read_.get(), nullptr, to, nullptr, held_, kFlags);
  if (moved > 0) held_ -= static_cast<size_t>(moved);
  return moved;
}

}  // namespace keibi::relay
