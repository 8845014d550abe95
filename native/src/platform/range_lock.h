// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <optional>

#include "platform/lock_ranges.h"

namespace keibi::platform {

// Locks that belong to an open file, not to this process: they exclude other programs and other open files of this
// process. They end with the last descriptor of the open file. None of these functions waits. One implementation per
// system.

// An errno, or 0: EAGAIN while another owner's lock conflicts, ENOLCK where the system has no such locks.
int LockSpanOf(int fd, const LockSpan& span, LockKind kind);

// The same for flock(2).
int LockWhole(int fd, LockKind kind);

// Another owner's lock that a lock of this kind would conflict with.
std::optional<LockRanges::Range> FindLock(int fd, const LockSpan& span, LockKind kind);

}  // namespace keibi::platform
