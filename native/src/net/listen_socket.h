// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::net {

// Binds and listens on a numeric address, non-blocking; "::" accepts IPv4 too. A `port` of 0 is replaced by the
// system's choice. Errors: kInternal with the errno; EINVAL when `host` is not an address.
core::Status OpenListenSocket(const std::string& host, uint16_t* port, core::Fd* socket);

// Accepts one connection, non-blocking and with TCP_NODELAY. Invalid with errno set if there is none. `address` is
// numeric; an IPv4 address inside an IPv6 one is shown as IPv4.
core::Fd AcceptConnection(int socket, std::string* address, uint16_t* port);

}  // namespace keibi::net
