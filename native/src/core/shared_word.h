// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace keibi::core {

// Waits until a word of shared memory differs from `seen`, for at most `most`; may return earlier. One file per system,
// chosen by the build.
void WaitForChange(const std::atomic<uint32_t>* word, uint32_t seen, std::chrono::microseconds most);
// Wakes all waiters on this word, in any process.
void WakeWaiting(const std::atomic<uint32_t>* word);

}  // namespace keibi::core
