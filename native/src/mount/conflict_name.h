// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <string_view>

namespace keibi::mount {

// The name of a conflict copy: `name (conflict DATE LABEL).ext`. From the second copy on the name includes `number`.
std::string ConflictName(std::string_view name, std::string_view date, std::string_view label, int number);

// Today's local date, as in 2026-01-31.
std::string DateOfToday();

}  // namespace keibi::mount
