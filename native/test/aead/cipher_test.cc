// SPDX-License-Identifier: MPL-2.0
#include "aead/cipher.h"

#include <gtest/gtest.h>

#include "bytes.h"

namespace keibi::aead {
namespace {

using test::Bytes;
using test::FromHex;
using test::FromText;

struct CipherVector {
  const char* name;
  Suite suite;
  Bytes key, nonce, aad, plaintext, ciphertext, tag;
};

const char kGcmKey[] = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
const char kGcmPlaintext[] =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";
const char kGcmCiphertext[] =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";
constexpr size_t kShort = 120;  // hex digits of test case 16's text

// McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B (submitted to NIST); RFC 8439 2.8.2.
std::vector<CipherVector> CipherVectors() {
  const Bytes zero_key(32), zero_nonce(12), gcm_nonce = FromHex("cafebabefacedbaddecaf888");
  const std::string_view plaintext = kGcmPlaintext, ciphertext = kGcmCiphertext;
  return {
      {"Gcm13", Suite::kAes256Gcm, zero_key, zero_nonce, {}, {}, {}, FromHex("530f8afbc74536b9a963b4f1c4cb738b")},
      {"Gcm14",
       Suite::kAes256Gcm,
       zero_key,
       zero_nonce,
       {},
       Bytes(16),
       FromHex("cea7403d4d606b6e074ec5d3baf39d18"),
       FromHex("d0d1c8a799996bf0265b98b5d48ab919")},
      {"Gcm15",
       Suite::kAes256Gcm,
       FromHex(kGcmKey),
       gcm_nonce,
       {},
       FromHex(plaintext),
       FromHex(ciphertext),
       FromHex("b094dac5d93471bdec1a502270e3cc6c")},
      {"Gcm16", Suite::kAes256Gcm, FromHex(kGcmKey), gcm_nonce, FromHex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
       FromHex(plaintext.substr(0, kShort)), FromHex(ciphertext.substr(0, kShort)),
       FromHex("76fc6ece0f4e1768cddf8853bb2d551b")},
      {"Rfc8439", Suite::kChaCha20Poly1305, FromHex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"),
       FromHex("070000004041424344454647"), FromHex("50515253c0c1c2c3c4c5c6c7"),
       FromText("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
                "would be it."),
       FromHex("d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
               "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
               "3ff4def08e4b7a9de576d26586cec64b6116"),
       FromHex("1ae10b594f09e26a7e902ecbd0600691")},
  };
}

class CipherTest : public testing::TestWithParam<CipherVector> {};

TEST_P(CipherTest, SealsToThePublishedCiphertext) {
  const CipherVector& vector = GetParam();
  Cipher cipher(vector.suite, Cipher::Direction::kSeal);
  ASSERT_TRUE(cipher.SetKey(vector.key.data()));
  for (int again = 0; again < 2; again++) {  // the second time with the same key schedule
    Bytes text = vector.plaintext, tag(kTagBytes);
    ASSERT_TRUE(
        cipher.Seal(vector.nonce.data(), vector.aad.data(), vector.aad.size(), text.data(), text.size(), tag.data()));
    EXPECT_EQ(text, vector.ciphertext);
    EXPECT_EQ(tag, vector.tag);
  }
}

TEST_P(CipherTest, OpensThePublishedCiphertext) {
  const CipherVector& vector = GetParam();
  Cipher cipher(vector.suite, Cipher::Direction::kOpen);
  ASSERT_TRUE(cipher.SetKey(vector.key.data()));
  for (int again = 0; again < 2; again++) {
    Bytes text = vector.ciphertext;
    ASSERT_TRUE(cipher.Open(vector.nonce.data(), vector.aad.data(), vector.aad.size(), text.data(), text.size(),
                            vector.tag.data()));
    EXPECT_EQ(text, vector.plaintext);
  }
}

TEST_P(CipherTest, LeavesNothingOfATextWhoseTagIsWrong) {
  const CipherVector& vector = GetParam();
  Cipher cipher(vector.suite, Cipher::Direction::kOpen);
  ASSERT_TRUE(cipher.SetKey(vector.key.data()));
  Bytes text = vector.ciphertext, tag = vector.tag;
  tag[15] ^= 1;
  EXPECT_FALSE(
      cipher.Open(vector.nonce.data(), vector.aad.data(), vector.aad.size(), text.data(), text.size(), tag.data()));
  EXPECT_EQ(text, Bytes(vector.ciphertext.size()));
}

TEST_P(CipherTest, ChangesToASecondKey) {
  const CipherVector& vector = GetParam();
  Cipher cipher(vector.suite, Cipher::Direction::kSeal);
  const Bytes other_key(kKeyBytes, 0xA5);
  Bytes text = vector.plaintext, tag(kTagBytes);
  ASSERT_TRUE(cipher.SetKey(other_key.data()));
  ASSERT_TRUE(
      cipher.Seal(vector.nonce.data(), vector.aad.data(), vector.aad.size(), text.data(), text.size(), tag.data()));
  EXPECT_NE(tag, vector.tag);
  text = vector.plaintext;
  ASSERT_TRUE(cipher.SetKey(vector.key.data()));
  ASSERT_TRUE(
      cipher.Seal(vector.nonce.data(), vector.aad.data(), vector.aad.size(), text.data(), text.size(), tag.data()));
  EXPECT_EQ(tag, vector.tag);
}

INSTANTIATE_TEST_SUITE_P(Published, CipherTest, testing::ValuesIn(CipherVectors()),
                         [](const auto& info) { return info.param.name; });

TEST(SuiteTest, LabelsAreThoseOfTheProtocol) {
  EXPECT_STREQ(Label(Suite::kAes256Gcm), "KeibiDrop-AES-256-GCM-SEK");
  EXPECT_STREQ(Label(Suite::kChaCha20Poly1305), "KeibiDrop-ChaCha20-Poly1305-SEK");
}

}  // namespace
}  // namespace keibi::aead
