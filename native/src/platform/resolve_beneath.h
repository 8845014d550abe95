// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "core/fd.h"

namespace keibi::platform {

// Opens a relative path in one kernel call, which refuses every symlink and every way out of `folder`, even while
// others rename. False with errno; ENOSYS where the system has no such call. One file per platform.
bool ResolveBeneath(int folder, const char* path, int flags, core::Fd* fd);

}  // namespace keibi::platform
