// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <optional>

#include "stream/lock_ranges.h"

namespace keibi::stream {

// Locks that belong to an open file, and not to this process: they exclude those of other programs, and of other open
// files of this one. They end with the last descriptor of the open file. None of these waits. One implementation per
// system.

// An errno, or 0: EAGAIN while another has a lock there, ENOLCK where the system has no such locks.
int LockSpanOf(int fd, const LockSpan& span, LockKind kind);

// The same for flock(2).
int LockWhole(int fd, LockKind kind);

// A lock of another that a lock of this kind would meet there.
std::optional<LockRanges::Range> FindLock(int fd, const LockSpan& span, LockKind kind);

}  // namespace keibi::stream
