// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>

#include "aead/suite.h"
#include "core/status.h"

namespace keibi::bench {

// Bytes of plaintext per second on one core.
struct SuiteSpeed {
  double seal = 0;
  double open = 0;
};

// Seals frames of one chunk and opens them again, as lanes do, for about `budget`. kCancelled soon after `stopped`;
// kInternal if a frame does not open.
core::Status MeasureSuite(aead::Suite suite, std::chrono::milliseconds budget, const std::atomic<bool>& stopped,
                          SuiteSpeed* speed);

// SHA-256 of chunks, as --verify computes it.
core::Status MeasureSha256(std::chrono::milliseconds budget, const std::atomic<bool>& stopped,
                           double* bytes_per_second);

}  // namespace keibi::bench
