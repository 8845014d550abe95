// SPDX-License-Identifier: MPL-2.0
#include "net/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <thread>

namespace keibi::net {

using core::Code;
using core::Status;
using std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kStopCheck{50};

}  // namespace

Status SendAll(int fd, const uint8_t* from, size_t bytes, RateLimiter* limiter) {
  while (bytes > 0) {
    const size_t slice = limiter->Slice(bytes);
    limiter->Pass(slice);
    for (size_t left = slice; left > 0;) {
      const ssize_t sent = send(fd, from, left, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return Status::FromErrno(Code::kSessionLost);
      from += sent;
      left -= static_cast<size_t>(sent);
    }
    bytes -= slice;
  }
  return Status::Ok();
}

Status ReceiveAll(int fd, uint8_t* to, size_t bytes, RateLimiter* limiter, size_t* received) {
  *received = 0;
  while (*received < bytes) {
    const size_t slice = limiter->Slice(bytes - *received);
    const ssize_t got = recv(fd, to + *received, slice, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::FromErrno(Code::kSessionLost);
    if (got == 0) return Status::Of(Code::kSessionLost);
    *received += static_cast<size_t>(got);
    limiter->Pass(static_cast<size_t>(got));
  }
  return Status::Ok();
}

namespace {

// Waits until `events` happens, in short steps so that a stop is noticed.
Status Await(int fd, int16_t events, std::chrono::milliseconds timeout, const std::atomic<bool>& stopped,
             Status too_late) {
  const auto until = steady_clock::now() + timeout;
  pollfd waiting{fd, events, 0};
  while (poll(&waiting, 1, static_cast<int>(kStopCheck.count())) != 1) {
    if (stopped.load()) return Status::Of(Code::kCancelled);
    if (steady_clock::now() >= until) return too_late;
  }
  return Status::Ok();
}

// Binds to a port that our listener and other connections may share.
bool BindShared(int fd, int family, uint16_t port) {
  const int on = 1;
  sockaddr_storage any{};
  any.ss_family = static_cast<sa_family_t>(family);
  const bool is_ipv6 = family == AF_INET6;
  (is_ipv6 ? reinterpret_cast<sockaddr_in6&>(any).sin6_port : reinterpret_cast<sockaddr_in&>(any).sin_port) =
      htons(port);
  return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
         setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0 &&
         bind(fd, reinterpret_cast<sockaddr*>(&any), is_ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in)) == 0;
}

}  // namespace

Status BeginDial(const std::string& host, uint16_t port, core::Fd* fd, std::optional<uint16_t> from_port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return Status::Of(Code::kPeerUnreachable, EINVAL);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, freeaddrinfo);
  core::Fd socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return Status::FromErrno(Code::kPeerUnreachable);
  if (from_port && !BindShared(socket.get(), address->ai_family, *from_port)) {
    return Status::FromErrno(Code::kPeerUnreachable);
  }
  TuneLane(socket.get());
  if (connect(socket.get(), address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS) {
    return Status::FromErrno(Code::kPeerUnreachable);
  }
  *fd = std::move(socket);
  return Status::Ok();
}

int DialError(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

Status Dial(const std::string& host, uint16_t port, std::chrono::milliseconds timeout, const std::atomic<bool>& stopped,
            core::Fd* fd, std::optional<uint16_t> from_port) {
  core::Fd socket;
  if (const Status status = BeginDial(host, port, &socket, from_port); !status.ok()) return status;
  const Status too_late = Status::Of(Code::kPeerUnreachable, ETIMEDOUT);
  if (const Status status = Await(socket.get(), POLLOUT, timeout, stopped, too_late); !status.ok()) return status;
  if (const int error = DialError(socket.get()); error != 0) return Status::Of(Code::kPeerUnreachable, error);
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
  *fd = std::move(socket);
  return Status::Ok();
}

Status DialThrough(uint16_t from_port, const std::string& host, uint16_t port, std::chrono::milliseconds timeout,
                   const std::atomic<bool>& stopped, core::Fd* fd) {
  const auto until = steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    const Status status = Dial(host, port, left, stopped, fd, from_port);
    const bool again = status.code == Code::kPeerUnreachable && MayYetBeAnswered(status.system_error);
    if (!again || left <= kDialAgain) return status;
    if (stopped.load()) return Status::Of(Code::kCancelled);
    std::this_thread::sleep_for(kDialAgain);
  }
}

bool MayYetBeAnswered(int error) {
  return error == ECONNREFUSED || error == ECONNRESET || error == EHOSTUNREACH || error == ENETUNREACH;
}

Status JoinRelay(int fd, const relay::Token& token, std::chrono::milliseconds timeout,
                 const std::atomic<bool>& stopped) {
  RateLimiter unlimited(nullptr);
  const relay::RelayHello hello = relay::HelloOf(token);
  if (const Status status = SendAll(fd, hello.data(), hello.size(), &unlimited); !status.ok()) return status;
  const Status too_late = Status::Of(Code::kHandshakeTimeout);
  if (const Status status = Await(fd, POLLIN, timeout, stopped, too_late); !status.ok()) return status;
  uint8_t answer = 0;
  size_t got = 0;
  if (const Status status = ReceiveAll(fd, &answer, 1, &unlimited, &got); !status.ok()) return status;
  return relay::StatusOf(answer);
}

void TuneLane(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef TCP_CONGESTION
  // Fails where the kernel lacks BBR; it then keeps cubic.
  setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3);
#endif
}

}  // namespace keibi::net
