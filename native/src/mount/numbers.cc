// SPDX-License-Identifier: MPL-2.0
#include "mount/numbers.h"

#include <array>
#include <cstring>

#include "mount/tree.h"

namespace keibi::mount {
namespace {

constexpr int kUnusedBits = 11;  // 64 - 53

}  // namespace

Numbers::Numbers()
    : sha256_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()), taken_({0, kRootIno}) {}

// Not a faster hash: names are the other peer's, who could look for ones that fall together.
uint64_t Numbers::Take(uint64_t directory, std::string_view name) {
  for (;; directory++) {
    std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
    EVP_DigestInit_ex2(context_.get(), sha256_.get(), nullptr);
    EVP_DigestUpdate(context_.get(), &directory, sizeof directory);
    EVP_DigestUpdate(context_.get(), name.data(), name.size());
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    uint64_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    number >>= kUnusedBits;
    // Of one that has had this name and is still open, or by chance.
    if (taken_.insert(number).second) return number;
  }
}

}  // namespace keibi::mount
