// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "net/rate_limiter.h"
#include "relay/wire.h"

namespace keibi::net {

// Blocking transfers of exactly `bytes`. kSessionLost with the errno, or with 0 when the peer closed.
core::Status SendAll(int fd, const uint8_t* from, size_t bytes, RateLimiter* limiter);
core::Status ReceiveAll(int fd, uint8_t* to, size_t bytes, RateLimiter* limiter, size_t* received);

// Begins to connect to a numeric address, non-blocking. The socket becomes writable when the result is known, which
// DialError returns (0: connected). kPeerUnreachable with the errno.
// `from_port`: our port, shared with other sockets that use it the same way. 0: the system chooses.
core::Status BeginDial(const std::string& host, uint16_t port, core::Fd* fd,
                       std::optional<uint16_t> from_port = std::nullopt);
int DialError(int fd);

// Connects to a numeric address within `timeout`. kPeerUnreachable with the errno; kCancelled soon after `stopped`.
core::Status Dial(const std::string& host, uint16_t port, std::chrono::milliseconds timeout,
                  const std::atomic<bool>& stopped, core::Fd* fd, std::optional<uint16_t> from_port = std::nullopt);

// The same from our port, repeatedly while the other side is not ready or a router refuses. The other side dials our
// port meanwhile, and the two connections become one (RFC 9293 3.5, simultaneous open).
core::Status DialThrough(uint16_t from_port, const std::string& host, uint16_t port, std::chrono::milliseconds timeout,
                         const std::atomic<bool>& stopped, core::Fd* fd);

// Whether a dial that failed with this error may succeed at a retry.
bool MayYetBeAnswered(int error);
constexpr std::chrono::milliseconds kDialAgain{100};  // between two tries

// Joins a relay over a blocking connection to it: sends the token, waits for the answer (PROTOCOL 2.3). Errors as of
// relay::StatusOf; kHandshakeTimeout after `timeout`, kSessionLost when the relay hangs up, kCancelled soon after
// `stopped`.
core::Status JoinRelay(int fd, const relay::Token& token, std::chrono::milliseconds timeout,
                       const std::atomic<bool>& stopped);

// Sets TCP_NODELAY, and BBR where the kernel has it.
void TuneLane(int fd);

}  // namespace keibi::net
