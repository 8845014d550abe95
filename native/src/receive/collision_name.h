// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <string_view>

namespace keibi::receive {

// `photo.jpg` -> `photo (2).jpg`; `.profile` -> `.profile (2)`; shortened between characters to fit kMaxNameBytes.
std::string CollisionName(std::string_view name, int number);

}  // namespace keibi::receive
