// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <functional>

namespace keibi::stream {

// How a job says that something is there to be fetched. Called from the job's threads, also while a lock is held: it
// must only post a message to another thread. Calls may be merged.
using Wake = std::function<void()>;

}  // namespace keibi::stream
