// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <thread>

#include "core/shared_word.h"

// os_sync_wait_on_address needs macOS 14.4; earlier versions have no public wait on a word shared between processes.
namespace keibi::core {
namespace {

constexpr std::chrono::microseconds kLook{1000};

}  // namespace

void WaitForChange(const std::atomic<uint32_t>* word, uint32_t seen, std::chrono::microseconds most) {
  if (word->load() == seen) std::this_thread::sleep_for(std::min(most, kLook));
}

void WakeWaiting(const std::atomic<uint32_t>*) {}

}  // namespace keibi::core
