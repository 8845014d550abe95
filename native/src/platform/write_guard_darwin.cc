// SPDX-License-Identifier: MPL-2.0
#include "platform/write_guard.h"

namespace keibi::platform {

// macOS has no leases, and a process's lock ends with the first descriptor that is closed.
WriteGuard::WriteGuard(int fd, const std::vector<LockSpan>& spans) : fd_(fd), locked_out_(IsLocked(fd, spans)) {}

WriteGuard::~WriteGuard() = default;

}  // namespace keibi::platform
