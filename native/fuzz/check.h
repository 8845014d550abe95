// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdlib>

namespace keibi::fuzz {

// Aborts unless a property of every input holds; libFuzzer then keeps the input.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace keibi::fuzz
