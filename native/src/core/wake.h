// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <functional>

namespace keibi::core {

// A job's signal that there is something to fetch. Called from the job's threads, even with a lock held: it must only
// post a message to another thread. Calls may be merged.
using Wake = std::function<void()>;

}  // namespace keibi::core
