// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/status.h"

namespace keibi::bench {

// Moves `bytes` over one TCP connection of this machine with itself, a thread at each end, in 1 MiB writes, and tells
// how long that took. kSessionLost with the errno; kCancelled soon after `stopped`.
core::Status MeasureLoopback(uint64_t bytes, const std::atomic<bool>& stopped, double* seconds);

// The round trip to a listening address: the least of a few times that a TCP connection took to stand. Nothing is sent.
// kPeerUnreachable with the errno, kCancelled.
core::Status MeasureRoundTrip(const std::string& host, uint16_t port, const std::atomic<bool>& stopped,
                              double* seconds);

}  // namespace keibi::bench
