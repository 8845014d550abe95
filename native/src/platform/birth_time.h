// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace keibi::platform {

// Birth time of a file; empty where the system does not report it. One implementation per system, chosen by the build.
std::optional<int64_t> BirthNs(int fd);

}  // namespace keibi::platform
