// SPDX-License-Identifier: MPL-2.0
#include "mount/inode_numbers.h"

#include <cstring>

#include "core/sha256.h"
#include "mount/inode_table.h"

namespace keibi::mount {
namespace {

constexpr int kUnusedBits = 11;  // 64 - 53

}  // namespace

InodeNumbers::InodeNumbers() : taken_({0, kRootIno}) {}

// Must resist collisions: the other peer chooses the names.
uint64_t InodeNumbers::Take(uint64_t directory, std::string_view name) {
  for (;; directory++) {
    const auto digest = core::Sha256({reinterpret_cast<const char*>(&directory), sizeof directory}, name);
    uint64_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    number >>= kUnusedBits;
    // Taken by a removed file of the same name that is still open, or by chance.
    if (taken_.insert(number).second) return number;
  }
}

}  // namespace keibi::mount
