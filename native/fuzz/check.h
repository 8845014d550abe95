// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdlib>

namespace keibi::fuzz {

// A property of every input; libFuzzer keeps the input that breaks it.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace keibi::fuzz
