// SPDX-License-Identifier: MPL-2.0
#include "mount/numbers.h"

#include <cstring>

#include "core/sha256.h"
#include "mount/tree.h"

namespace keibi::mount {
namespace {

constexpr int kUnusedBits = 11;  // 64 - 53

}  // namespace

Numbers::Numbers() : taken_({0, kRootIno}) {}

// Not a faster hash: names are the other peer's, who could look for ones that fall together.
uint64_t Numbers::Take(uint64_t directory, std::string_view name) {
  for (;; directory++) {
    const auto digest = core::Sha256({reinterpret_cast<const char*>(&directory), sizeof directory}, name);
    uint64_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    number >>= kUnusedBits;
    // Of one that has had this name and is still open, or by chance.
    if (taken_.insert(number).second) return number;
  }
}

}  // namespace keibi::mount
