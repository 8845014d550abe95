// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace keibi::mount {

// The inode numbers that programs are shown. They follow from the path, so that what keeps them, as git does to know
// which files it need not read again, finds them the same in the next mount. A file that is renamed keeps its own. One
// thread at a time.
class Numbers {
 public:
  Numbers();

  // For `name` in the directory that has the number `directory`: 1 to 2^53 - 1, so that a double has room for it, and
  // nobody else's until Give.
  uint64_t Take(uint64_t directory, std::string_view name);
  void Give(uint64_t number) { taken_.erase(number); }

 private:
  std::unordered_set<uint64_t> taken_;
};

}  // namespace keibi::mount
