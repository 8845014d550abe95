// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "send/walker.h"

namespace keibi::send {

// Entries below a root that a walk must leave out: their name, or the target of a symlink, is not UTF-8.
struct Unsendable {
  uint64_t count = 0;
  std::vector<std::string> first;  // paths of the first few, beginning with the root's name, escaped for display
};

// Reads only directories, at most kMaxEntries names; leaves unreadable ones to the walk. May block.
Unsendable FindUnsendable(const Root& root);

}  // namespace keibi::send
