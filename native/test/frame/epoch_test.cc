// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "aead/cipher.h"
#include "core/bytes.h"
#include "core/limits.h"
#include "frame/frames.h"

// The ratchet of PROTOCOL 4.2.
namespace keibi::frame {
namespace {

using aead::Suite;
using core::Code;
using test::Bytes;
using test::BytesOf;
using test::EpochOf;
using test::KeyOf;
using test::Open;
using test::Seal;

uint64_t CounterOf(const Bytes& frame) { return core::LoadBigEndian<uint64_t>(frame.data() + kLengthBytes + 4); }

class EpochTest : public testing::TestWithParam<Suite> {};

INSTANTIATE_TEST_SUITE_P(Suites, EpochTest, testing::Values(Suite::kAes256Gcm, Suite::kChaCha20Poly1305),
                         [](const auto& info) { return info.param == Suite::kAes256Gcm ? "Aes" : "ChaCha"; });

TEST_P(EpochTest, BeginsAfterSoManyBytes) {
  Sealer sealer(GetParam(), KeyOf(1), {10, 1000});
  Opener opener(GetParam(), KeyOf(1));
  for (uint32_t i = 0; i < 50; i++) {
    const Bytes frame = Seal(&sealer, Bytes(4, 1));  // 4, 8, 12: three frames fit before ten bytes are exceeded
    EXPECT_EQ(EpochOf(frame), i / 3);
    EXPECT_EQ(CounterOf(frame), i);
    EXPECT_EQ(Open(&opener, frame).code, Code::kOk) << i;
  }
}

TEST_P(EpochTest, BeginsAfterSoManyFramesEmptyOnesToo) {
  Sealer sealer(GetParam(), KeyOf(1), {1000, 2});
  Opener opener(GetParam(), KeyOf(1));
  for (uint32_t i = 0; i < 50; i++) {
    const Bytes frame = Seal(&sealer, {});
    EXPECT_EQ(EpochOf(frame), i / 2);
    EXPECT_EQ(CounterOf(frame), i);
    EXPECT_EQ(Open(&opener, frame).code, Code::kOk) << i;
  }
}

TEST_P(EpochTest, IsNeverLongerThanTheProtocolAllows) {
  Sealer sealer(GetParam(), KeyOf(1), {UINT64_MAX, UINT64_MAX});
  Bytes frame(kOverheadBytes);
  for (uint64_t i = 0; i < core::kRatchetFrames; i++) ASSERT_EQ(sealer.Seal(frame.data(), 0), frame.size());
  EXPECT_EQ(EpochOf(frame), 0u);
  sealer.Seal(frame.data(), 0);
  EXPECT_EQ(EpochOf(frame), 1u);
}

// Opens each frame with a cipher of its own, under the key of PROTOCOL 4.2 for its epoch.
TEST_P(EpochTest, NeverUsesAKeyWithTheSameNonceTwice) {
  Sealer sealer(GetParam(), KeyOf(1), {3, 1000});
  aead::Cipher cipher(GetParam(), aead::Cipher::Direction::kOpen);
  Key key = KeyOf(1);
  uint32_t epoch = 0;
  std::set<Bytes> keys = {BytesOf(key)};
  std::set<std::pair<Bytes, Bytes>> used;
  for (uint32_t i = 0; i < 100; i++) {
    Bytes frame = Seal(&sealer, {1, 2});
    for (; epoch < EpochOf(frame); epoch++) {
      key = Expand(key, "KeibiDrop ratchet");
      EXPECT_TRUE(keys.insert(BytesOf(key)).second) << "epoch " << epoch + 1 << " has the key of an earlier one";
    }
    const uint8_t* nonce = frame.data() + kLengthBytes;
    EXPECT_TRUE(used.emplace(BytesOf(key), Bytes(nonce, nonce + aead::kNonceBytes)).second);
    ASSERT_TRUE(cipher.SetKey(key.data()));
    uint8_t* text = frame.data() + kHeaderBytes;
    EXPECT_TRUE(cipher.Open(nonce, frame.data(), kLengthBytes, text, 2, text + 2));
  }
  EXPECT_EQ(keys.size(), 50u);
  EXPECT_EQ(used.size(), 100u);
}

TEST_P(EpochTest, RefusesAnEpochLeftOutOrGoneBackTo) {
  const auto opened_with = [](uint32_t epoch) {
    Sealer sealer(GetParam(), KeyOf(1), {1, 1000});
    Opener opener(GetParam(), KeyOf(1));
    for (int i = 0; i < 3; i++) EXPECT_EQ(Open(&opener, Seal(&sealer, {1})).code, Code::kOk);
    Bytes frame = Seal(&sealer, {1});  // epoch 3 at the writer
    core::StoreBigEndian<uint32_t>(frame.data() + kLengthBytes, epoch);
    return Open(&opener, frame).code;
  };
  EXPECT_EQ(opened_with(0), Code::kFrameReplayed);
  EXPECT_EQ(opened_with(1), Code::kFrameReplayed);
  EXPECT_EQ(opened_with(2), Code::kFrameAuthFailed);  // the reader's own epoch, but another key
  EXPECT_EQ(opened_with(3), Code::kOk);
  EXPECT_EQ(opened_with(4), Code::kFrameReplayed);
  EXPECT_EQ(opened_with(UINT32_MAX), Code::kFrameReplayed);
}

}  // namespace
}  // namespace keibi::frame
