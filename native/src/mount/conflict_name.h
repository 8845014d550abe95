// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <string_view>

namespace keibi::mount {

// What a version is called that stands beside another: `name (conflict DATE LABEL).ext`, from the second on with a
// number.
std::string ConflictName(std::string_view name, std::string_view date, std::string_view label, int number);

// Of the clock on the wall, as in 2026-01-31.
std::string DateOfToday();

}  // namespace keibi::mount
