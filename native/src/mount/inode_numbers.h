// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace keibi::mount {

// The inode numbers that programs see. They derive from the path, so a number that a program stored is valid in the
// next mount; git uses it to detect changed files. A renamed file keeps its number. One thread at a time.
class InodeNumbers {
 public:
  InodeNumbers();

  // The number for `name` in the directory with number `directory`: 1 to 2^53 - 1, so that a double can hold it. It
  // stays taken until Give.
  uint64_t Take(uint64_t directory, std::string_view name);
  void Give(uint64_t number) { taken_.erase(number); }

 private:
  std::unordered_set<uint64_t> taken_;
};

}  // namespace keibi::mount
