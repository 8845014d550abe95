// SPDX-License-Identifier: MPL-2.0
#include "net/listen_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace keibi::net {
namespace {

using core::Code;
using core::Fd;
using core::Status;

bool SetOption(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

bool MakeNonBlocking(int fd) {
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

uint16_t PortOf(const sockaddr_storage& address) {
  const bool is_ipv6 = address.ss_family == AF_INET6;
  return ntohs(is_ipv6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                       : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string HostOf(const sockaddr_storage& address, socklen_t bytes) {
  char text[NI_MAXHOST] = "";
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (address.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
    inet_ntop(AF_INET, ipv6.sin6_addr.s6_addr + 12, text, sizeof text);
  } else {
    getnameinfo(reinterpret_cast<const sockaddr*>(&address), bytes, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  }
  return text;
}

}  // namespace

Status OpenListenSocket(const std::string& host, uint16_t* port, Fd* socket) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(*port).c_str(), &hints, &found) != 0) {
    return Status::Of(Code::kInternal, EINVAL);
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> address(found, freeaddrinfo);

  Fd opened(::socket(found->ai_family, SOCK_STREAM, 0));
  const int fd = opened.get();
  sockaddr_storage bound{};
  socklen_t bound_bytes = sizeof bound;
  const bool listening = opened.valid() && MakeNonBlocking(fd) && SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
                         (found->ai_family != AF_INET6 || SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0)) &&
                         bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0 &&
                         getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &bound_bytes) == 0;
  if (!listening) return Status::FromErrno(Code::kInternal);
  // Set after the bind: our own connections may share the port (BeginDial), but no second listener could bind it.
  if (!SetOption(fd, SOL_SOCKET, SO_REUSEPORT, 1)) return Status::FromErrno(Code::kInternal);
  *port = PortOf(bound);
  *socket = std::move(opened);
  return Status::Ok();
}

Fd AcceptConnection(int socket, std::string* address, uint16_t* port) {
  sockaddr_storage from{};
  socklen_t bytes = sizeof from;
  Fd accepted(accept(socket, reinterpret_cast<sockaddr*>(&from), &bytes));
  if (!accepted.valid() || !MakeNonBlocking(accepted.get())) return Fd();
  SetOption(accepted.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  *address = HostOf(from, bytes);
  *port = PortOf(from);
  return accepted;
}

}  // namespace keibi::net
