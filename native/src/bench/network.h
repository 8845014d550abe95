// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/status.h"

namespace keibi::bench {

// Moves `bytes` over one loopback TCP connection in 1 MiB writes, with one thread at each end, and measures the time.
// kSessionLost with the errno; kCancelled soon after `stopped`.
core::Status MeasureLoopback(uint64_t bytes, const std::atomic<bool>& stopped, double* seconds);

// The round trip to a listening address: the shortest of several TCP connects. Sends no data. kPeerUnreachable with the
// errno, kCancelled.
core::Status MeasureRoundTrip(const std::string& host, uint16_t port, const std::atomic<bool>& stopped,
                              double* seconds);

}  // namespace keibi::bench
