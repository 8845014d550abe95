// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cerrno>

#include "core/status.h"

namespace keibi::share {

// A failed system call on a shared folder. Call before anything else sets errno.
inline core::Status CallError(int error = errno) { return core::Status::Of(core::Code::kCallFailed, error); }

}  // namespace keibi::share
