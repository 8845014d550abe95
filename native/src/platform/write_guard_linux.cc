// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "platform/range_lock.h"
#include "platform/write_guard.h"

namespace keibi::platform {
namespace {

// A program usually holds its lock only for a moment: if it takes longer, the put must be retried.
constexpr int kMostLeaseTries = 10;
constexpr std::chrono::milliseconds kBetweenTries{5};

// False if another program has locked a part of them: then none stays locked.
bool LockAll(int fd, const std::vector<LockSpan>& spans) {
  for (const LockSpan& span : spans) {
    if (LockSpanOf(fd, span, LockKind::kExclusive) != EAGAIN) continue;
    LockSpanOf(fd, {}, LockKind::kNone);
    return false;
  }
  return true;
}

}  // namespace

WriteGuard::WriteGuard(int fd, const std::vector<LockSpan>& spans) : fd_(fd) {
  for (int tries = 0; !LockAll(fd_, spans); tries++) {
    locked_out_ = tries == kMostLeaseTries;
    if (locked_out_) return;
    std::this_thread::sleep_for(kBetweenTries);
  }
  // The kernel signals the lease holder when another program wants the file. SIGURG does nothing by default, and the
  // guard ends in a moment either way.
  alone_ = fcntl(fd_, F_SETSIG, SIGURG) == 0 && fcntl(fd_, F_SETLEASE, F_WRLCK) == 0;
}

WriteGuard::~WriteGuard() {
  if (alone_) fcntl(fd_, F_SETLEASE, F_UNLCK);
  LockSpanOf(fd_, {}, LockKind::kNone);
}

}  // namespace keibi::platform
