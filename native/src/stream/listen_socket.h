// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::stream {

// Binds and listens on a numeric address, non-blocking; "::" takes IPv4 too. `port` 0 becomes the one the system chose.
// Errors: kInternal with the errno; EINVAL when `host` is no address.
core::Status OpenListenSocket(const std::string& host, uint16_t* port, core::Fd* socket);

// Accepts one connection, non-blocking and without delay. Invalid with errno set if there is none.
// `address` is numeric, an IPv4 address inside an IPv6 one shown as IPv4.
core::Fd AcceptConnection(int socket, std::string* address, uint16_t* port);

}  // namespace keibi::stream
