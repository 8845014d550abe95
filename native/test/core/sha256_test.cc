// SPDX-License-Identifier: MPL-2.0
#include "core/sha256.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <string>

namespace keibi::core {
namespace {

std::string Hex(std::string_view first, std::string_view second = {}) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : Sha256(first, second)) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return hex;
}

// NIST, examples of FIPS 180-4.
TEST(Sha256, HasTheDigestsOfTheStandard) {
  EXPECT_EQ(Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, JoinsTheParts) {
  std::string text;
  for (size_t length = 0; length <= 200; length++) {
    std::array<uint8_t, EVP_MAX_MD_SIZE> expected{};
    ASSERT_EQ(EVP_Digest(text.data(), text.size(), expected.data(), nullptr, EVP_sha256(), nullptr), 1);
    const std::string_view all = text;
    for (const size_t cut : {size_t{0}, length / 3, length}) {
      const auto digest = Sha256(all.substr(0, cut), all.substr(cut));
      EXPECT_TRUE(std::equal(digest.begin(), digest.end(), expected.begin())) << length << " " << cut;
    }
    text += static_cast<char>(length * 37 + 11);
  }
}

}  // namespace
}  // namespace keibi::core
