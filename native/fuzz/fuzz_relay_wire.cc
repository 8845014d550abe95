// SPDX-License-Identifier: MPL-2.0
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "check.h"
#include "net/preamble.h"
#include "relay/hub.h"

// Both ends of a relay's wire: a stranger's hello and the bytes after it, in two pieces, and a relay's answer.
// Two hellos with one token must be joined, and the remaining bytes of each must reach the other.
using keibi::core::Fd;
using keibi::fuzz::Check;
using keibi::net::PreambleReader;
using keibi::relay::Hub;

namespace {

constexpr std::chrono::hours kLong{1};
constexpr int kPatienceMs = 60'000;  // only ends a hang

std::unique_ptr<Hub> OpenHub() {
  std::unique_ptr<Hub> hub;
  Check(Hub::Open(&hub).ok());
  hub->SetLimits({8, 8, 1000, kLong, kLong, kLong, 0});
  return hub;
}

struct Connection {
  Fd peer;
  std::unique_ptr<PreambleReader> end;
};

Connection Connect() {
  int pair[2];
  Check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
  auto end = std::make_unique<PreambleReader>(Fd(pair[0]), PreambleReader::From{},
                                              PreambleReader::Clock::time_point::max(), true);
  return {Fd(pair[1]), std::move(end)};
}

// True once the whole hello has arrived and its token is `token`.
bool Says(Connection* connection, const uint8_t* data, size_t size, size_t first, const keibi::relay::Token& token) {
  Check(send(connection->peer.get(), data, first, MSG_NOSIGNAL) == static_cast<ssize_t>(first));
  auto kind = connection->end->Advance();
  if (kind == PreambleReader::Kind::kUnknown && size > first) {
    Check(send(connection->peer.get(), data + first, size - first, MSG_NOSIGNAL) == static_cast<ssize_t>(size - first));
    kind = connection->end->Advance();
  } else if (size > first) {
    (void)!send(connection->peer.get(), data + first, size - first, MSG_NOSIGNAL);
  }
  if (kind != PreambleReader::Kind::kRelay) return false;
  Check(connection->end->token() == token);
  return true;
}

void Hears(int fd, const uint8_t* bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    pollfd wait{fd, POLLIN, 0};
    Check(poll(&wait, 1, kPatienceMs) == 1);
    uint8_t part[256];
    const ssize_t got = recv(fd, part, std::min(sizeof part, size - at), 0);
    Check(got > 0 && std::equal(part, part + got, bytes + at));
    at += static_cast<size_t>(got);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<Hub> hub = OpenHub();
  if (size < 1 || size > 2048) return 0;
  (void)keibi::relay::StatusOf(data[0]);
  const size_t cut = data[0];
  data++;
  size--;
  keibi::relay::Token token{};
  // A peer must wait for the answer before it sends more: the relay ends a connection that does not wait.
  constexpr size_t kHelloBytes = sizeof(keibi::relay::RelayHello);
  const size_t hello_bytes = std::min(size, kHelloBytes);
  const size_t first = hello_bytes == 0 ? 0 : cut % hello_bytes;
  if (size >= kHelloBytes) std::copy_n(data + keibi::relay::kPreamble.size(), token.size(), token.begin());
  Connection one = Connect(), other = Connect();
  if (!Says(&one, data, hello_bytes, first, token) || !Says(&other, data, hello_bytes, hello_bytes, token)) return 0;
  hub->Take(std::move(one.end->fd), token, "127.0.0.1");
  hub->Take(std::move(other.end->fd), token, "127.0.0.1");
  const auto joined = static_cast<uint8_t>(keibi::relay::Answer::kJoined);
  for (const Connection* each : {&one, &other}) Hears(each->peer.get(), &joined, 1);
  const uint8_t* const rest = data + kHelloBytes;
  const size_t rest_bytes = size - kHelloBytes;
  for (const Connection* each : {&one, &other}) {
    Check(send(each->peer.get(), rest, rest_bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(rest_bytes));
  }
  for (const Connection* each : {&one, &other}) Hears(each->peer.get(), rest, rest_bytes);
  // The next input may hold the same token, which stays in use until this pair ends.
  one.peer = Fd();
  other.peer = Fd();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (hub->stats().pairs > 0) {
    Check(std::chrono::steady_clock::now() < deadline);
    std::this_thread::yield();
  }
  return 0;
}
