// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "stream/rate_limiter.h"

namespace keibi::stream {

// Blocking transfers of exactly `bytes`. kSessionLost with the errno, or with 0 when the peer closed.
core::Status SendAll(int fd, const uint8_t* from, size_t bytes, RateLimiter* limiter);
core::Status ReceiveAll(int fd, uint8_t* to, size_t bytes, RateLimiter* limiter, size_t* received);

// Connects to a numeric address within `timeout`. kPeerUnreachable with the errno; kCancelled soon after `stopped`.
core::Status Dial(const std::string& host, uint16_t port, std::chrono::milliseconds timeout,
                  const std::atomic<bool>& stopped, core::Fd* fd);

// No delay, BBR where the kernel has it.
void TuneLane(int fd);

}  // namespace keibi::stream
