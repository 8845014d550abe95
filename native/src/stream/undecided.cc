// SPDX-License-Identifier: MPL-2.0
#include "stream/undecided.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace keibi::stream {
namespace {

constexpr size_t kPreambleBytes = 8;

struct Preamble {
  char bytes[kPreambleBytes + 1];
  Undecided::Kind kind;
};

constexpr Preamble kPreambles[] = {
    {"PRI * HT", Undecided::Kind::kRendezvous},
    {"KEIBI-C1", Undecided::Kind::kControl},
    {"KEIBI-L1", Undecided::Kind::kLane},
};

ssize_t Receive(int fd, void* to, size_t bytes, int flags) {
  ssize_t received;
  do {
    received = recv(fd, to, bytes, flags);
  } while (received < 0 && errno == EINTR);
  return received;
}

// What an unsuccessful recv means.
Undecided::Kind WaitOrRefuse(ssize_t received) {
  const bool wait = received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return wait ? Undecided::Kind::kUnknown : Undecided::Kind::kRefused;
}

}  // namespace

Undecided::Kind Undecided::Advance() {
  if (is_lane_) return ReadHello();
  const Kind kind = Peek();
  char preamble[kPreambleBytes];
  if (kind != Kind::kControl && kind != Kind::kLane) return kind;
  if (Receive(fd.get(), preamble, kPreambleBytes, 0) != kPreambleBytes) return Kind::kRefused;
  is_lane_ = kind == Kind::kLane;
  return is_lane_ ? ReadHello() : kind;
}

Undecided::Kind Undecided::Peek() {
  char start[kPreambleBytes];
  const ssize_t received = Receive(fd.get(), start, kPreambleBytes, MSG_PEEK);
  if (received <= 0) return WaitOrRefuse(received);
  for (const Preamble& preamble : kPreambles) {
    if (std::memcmp(start, preamble.bytes, static_cast<size_t>(received)) != 0) continue;
    return received == kPreambleBytes ? preamble.kind : Kind::kUnknown;
  }
  return Kind::kRefused;
}

Undecided::Kind Undecided::ReadHello() {
  while (hello_bytes_ < kLaneHelloBytes) {
    const ssize_t received = Receive(fd.get(), hello_.data() + hello_bytes_, kLaneHelloBytes - hello_bytes_, 0);
    if (received <= 0) return WaitOrRefuse(received);
    hello_bytes_ += static_cast<size_t>(received);
  }
  return Kind::kLane;
}

}  // namespace keibi::stream
