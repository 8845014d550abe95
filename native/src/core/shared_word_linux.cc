// SPDX-License-Identifier: MPL-2.0
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "core/shared_word.h"

// futex(2) without FUTEX_PRIVATE_FLAG: several processes may share the word.
namespace keibi::core {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);

void WaitForChange(const std::atomic<uint32_t>* word, uint32_t seen, std::chrono::microseconds most) {
  constexpr auto kSecond = std::chrono::microseconds(std::chrono::seconds(1));
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(most / kSecond);
  timeout.tv_nsec = static_cast<long>(std::chrono::nanoseconds(most % kSecond).count());
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

void WakeWaiting(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace keibi::core
