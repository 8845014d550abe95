// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace keibi::core {

// Waits until a word of shared memory is no longer `seen`, for `most` at the longest; may return before. One file per
// system, chosen by the build.
void WaitForChange(const std::atomic<uint32_t>* word, uint32_t seen, std::chrono::microseconds most);
// Wakes who waits for this word, in any process.
void WakeWaiting(const std::atomic<uint32_t>* word);

}  // namespace keibi::core
