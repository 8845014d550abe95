// SPDX-License-Identifier: MPL-2.0
#include "net/dialler.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace keibi::test {

core::Fd Dialler::Socket(const std::string& host) {
  core::Fd fd(socket(host.find(':') == std::string::npos ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  const timeval patience{5, 0};
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

Dialler::Dialler(const std::string& host, uint16_t port) : Dialler(Socket(host), host, port) {}

Dialler::Dialler(core::Fd socket, const std::string& host, uint16_t port) : fd_(std::move(socket)) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return;
  connected_ = connect(fd_.get(), found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
}

bool Dialler::Send(const Bytes& bytes) {
  return send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

size_t Dialler::SendWhatFits(const Bytes& bytes) {
  size_t sent = 0;
  pollfd room{fd_.get(), POLLOUT, 0};
  while (sent < bytes.size() && poll(&room, 1, 100) == 1) {
    const ssize_t count = send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent += static_cast<size_t>(count);
  }
  return sent;
}

void Dialler::EndSending() { shutdown(fd_.get(), SHUT_WR); }

Bytes Dialler::Receive(size_t bytes) {
  Bytes received(bytes);
  const ssize_t count = recv(fd_.get(), received.data(), bytes, MSG_WAITALL);
  received.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return received;
}

bool Dialler::IsClosed() {
  uint8_t byte;
  const ssize_t count = recv(fd_.get(), &byte, 1, 0);
  return count == 0 || (count < 0 && errno == ECONNRESET);
}

}  // namespace keibi::test
