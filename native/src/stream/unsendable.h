// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stream/walker.h"

namespace keibi::stream {

// Entries below a root that a walk has to leave out: their name, or the target of a symlink, is no UTF-8.
struct Unsendable {
  uint64_t count = 0;
  std::vector<std::string> first;  // paths of the first few, with the name of the root, escaped for people
};

// Reads directories only, at most kMaxEntries names; what cannot be read is left to the walk. May block.
Unsendable FindUnsendable(const Root& root);

}  // namespace keibi::stream
