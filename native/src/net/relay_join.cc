// SPDX-License-Identifier: MPL-2.0
#include "net/relay_join.h"

#include <sys/socket.h>

#include <cerrno>

#include "net/socket.h"

namespace keibi::net {

using core::Code;
using core::Status;

Status RelayJoin::Dial() { return BeginDial(place.host, place.port, &fd); }

RelayJoin::State RelayJoin::Advance(Status* status) {
  if (!said_hello_) {
    if (const int error = DialError(fd.get()); error != 0) {
      *status = Status::Of(Code::kPeerUnreachable, error);
      return State::kFailed;
    }
    const relay::RelayHello hello = relay::HelloOf(place.token);
    // The first bytes of a connection always fit; before it is connected, there is nothing to write to.
    const ssize_t sent = send(fd.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) return State::kWaiting;
    *status = Status::FromErrno(Code::kPeerUnreachable);
    if (sent != static_cast<ssize_t>(hello.size())) return State::kFailed;
    said_hello_ = true;
  }
  uint8_t answer = 0;
  const ssize_t received = recv(fd.get(), &answer, 1, 0);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return State::kWaiting;
  *status = received == 1 ? relay::StatusOf(answer) : Status::Of(Code::kPeerUnreachable, received < 0 ? errno : 0);
  return status->ok() ? State::kJoined : State::kFailed;
}

}  // namespace keibi::net
