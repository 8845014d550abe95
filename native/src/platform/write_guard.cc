// SPDX-License-Identifier: MPL-2.0
#include "platform/write_guard.h"

#include <algorithm>

#include "platform/range_lock.h"

namespace keibi::platform {

bool WriteGuard::IsLocked(int fd, const std::vector<LockSpan>& spans) {
  return std::any_of(spans.begin(), spans.end(),
                     [fd](const LockSpan& span) { return FindLock(fd, span, LockKind::kExclusive).has_value(); });
}

}  // namespace keibi::platform
