// SPDX-License-Identifier: MPL-2.0
#include "frame/frame.h"

#include <gtest/gtest.h>

#include "core/bytes.h"
#include "core/limits.h"
#include "frame/frames.h"

namespace keibi::frame {
namespace {

using aead::Suite;
using core::Code;
using test::Bytes;
using test::KeyOf;
using test::Open;
using test::Seal;

class FrameTest : public testing::TestWithParam<Suite> {
 protected:
  Sealer sealer_{GetParam(), KeyOf(1)};
  Opener opener_{GetParam(), KeyOf(1)};
};

INSTANTIATE_TEST_SUITE_P(Suites, FrameTest, testing::Values(Suite::kAes256Gcm, Suite::kChaCha20Poly1305),
                         [](const auto& info) { return info.param == Suite::kAes256Gcm ? "Aes" : "ChaCha"; });

Bytes Pattern(size_t bytes) {
  Bytes pattern(bytes);
  for (size_t i = 0; i < bytes; i++) pattern[i] = static_cast<uint8_t>(i * 31 + i / 251);
  return pattern;
}

TEST_P(FrameTest, OpensWhatWasSealedOfAnySize) {
  const size_t sizes[] = {
      0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 4096, 65535, core::kChunkBytes, core::kMaxFramePlaintext};
  for (const size_t size : sizes) {
    const Bytes plaintext = Pattern(size);
    const Bytes frame = Seal(&sealer_, plaintext);
    ASSERT_EQ(frame.size(), size + kOverheadBytes);
    const auto opened = Open(&opener_, frame);
    EXPECT_EQ(opened.code, Code::kOk) << size;
    EXPECT_TRUE(opened.plaintext == plaintext) << size;
  }
}

TEST_P(FrameTest, LaysAFrameOutAsTheProtocolSays) {
  for (uint64_t counter = 0; counter < 3; counter++) {
    const Bytes frame = Seal(&sealer_, Bytes(5, 0x77));
    EXPECT_EQ(core::LoadBigEndian<uint32_t>(frame.data()), 12 + 5 + 16);
    EXPECT_EQ(core::LoadBigEndian<uint32_t>(frame.data() + 4), 0);
    EXPECT_EQ(core::LoadBigEndian<uint64_t>(frame.data() + 8), counter);
    EXPECT_NE(Bytes(frame.begin() + 16, frame.begin() + 21), Bytes(5, 0x77));
  }
}

TEST_P(FrameTest, RefusesAPlaintextOverTheLimitAndContinues) {
  Bytes memory(core::kMaxFramePlaintext + 1 + kOverheadBytes);
  EXPECT_EQ(sealer_.Seal(memory.data(), core::kMaxFramePlaintext + 1), 0u);
  EXPECT_EQ(Open(&opener_, Seal(&sealer_, {1})).code, Code::kOk);
}

TEST_P(FrameTest, RefusesALengthFieldOutOfRange) {
  struct Case {
    uint32_t length;
    Code code;
  };
  const Case cases[] = {
      {0, Code::kFrameTooLarge},
      {27, Code::kFrameTooLarge},
      {28, Code::kOk},
      {28 + core::kMaxFramePlaintext, Code::kOk},
      {28 + core::kMaxFramePlaintext + 1, Code::kFrameTooLarge},
      {UINT32_MAX, Code::kFrameTooLarge},
  };
  for (const Case& row : cases) {
    uint8_t field[kLengthBytes];
    size_t body_bytes = 0;
    core::StoreBigEndian<uint32_t>(field, row.length);
    EXPECT_EQ(Opener::BodyBytes(field, &body_bytes).code, row.code) << row.length;
    EXPECT_EQ(body_bytes, row.code == Code::kOk ? row.length : 0) << row.length;
  }
}

// Length 33 is 00 00 00 21: a greater length within the limit needs bytes that are missing, a smaller one leaves some
// over.
Code CodeOfFlip(size_t at, uint8_t mask) {
  if (at == 0) return Code::kFrameTooLarge;
  if (at == 1) return mask == 0x80 ? Code::kFrameTooLarge : Code::kFrameTruncated;
  if (at == 2) return Code::kFrameTruncated;
  if (at == 3) return mask == 0x80 ? Code::kFrameTruncated : Code::kFrameAuthFailed;
  if (at == 7 && mask == 1) return Code::kFrameAuthFailed;  // the next epoch, whose key does not open it
  return at < kHeaderBytes ? Code::kFrameReplayed : Code::kFrameAuthFailed;
}

TEST_P(FrameTest, RefusesAFrameWithAnyByteChangedAndStaysRefusing) {
  const Bytes frame = Seal(&sealer_, Pattern(5));
  for (size_t at = 0; at < frame.size(); at++) {
    for (const uint8_t mask : {uint8_t{0x01}, uint8_t{0x80}}) {
      Opener opener(GetParam(), KeyOf(1));
      Bytes changed = frame;
      changed[at] ^= mask;
      EXPECT_EQ(Open(&opener, changed).code, CodeOfFlip(at, mask)) << at << " ^ " << int{mask};
      EXPECT_EQ(Open(&opener, frame).code, CodeOfFlip(at, mask)) << at << " ^ " << int{mask} << ", then the right one";
    }
  }
}

TEST_P(FrameTest, RefusesAFrameCutAnywhere) {
  const Bytes frame = Seal(&sealer_, Pattern(5));
  for (size_t left = 0; left < frame.size(); left++) {
    Opener opener(GetParam(), KeyOf(1));
    EXPECT_EQ(Open(&opener, Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(left))).code,
              Code::kFrameTruncated);
    EXPECT_EQ(Open(&opener, frame).code, Code::kFrameTruncated);
  }
}

TEST_P(FrameTest, RefusesBytesBehindAFrame) {
  Bytes frame = Seal(&sealer_, Pattern(5));
  frame.push_back(0);
  EXPECT_EQ(Open(&opener_, frame).code, Code::kFrameAuthFailed);
}

TEST_P(FrameTest, RefusesAFrameThatCameBefore) {
  const Bytes frame = Seal(&sealer_, {1});
  EXPECT_EQ(Open(&opener_, frame).code, Code::kOk);
  EXPECT_EQ(Open(&opener_, frame).code, Code::kFrameReplayed);
  EXPECT_EQ(Open(&opener_, Seal(&sealer_, {2})).code, Code::kFrameReplayed);
}

TEST_P(FrameTest, RefusesFramesInAnotherOrder) {
  const Bytes first = Seal(&sealer_, {1});
  const Bytes second = Seal(&sealer_, {2});
  EXPECT_EQ(Open(&opener_, second).code, Code::kFrameReplayed);
  EXPECT_EQ(Open(&opener_, first).code, Code::kFrameReplayed);
}

TEST_P(FrameTest, RefusesTheFrameAfterOneThatWasDropped) {
  EXPECT_EQ(Open(&opener_, Seal(&sealer_, {1})).code, Code::kOk);
  Seal(&sealer_, {2});
  EXPECT_EQ(Open(&opener_, Seal(&sealer_, {3})).code, Code::kFrameReplayed);
}

TEST_P(FrameTest, LeavesNoPlaintextOfARefusedFrame) {
  Bytes frame = Seal(&sealer_, Pattern(64));
  frame.back() ^= 1;
  size_t plaintext_bytes = 0;
  EXPECT_EQ(opener_.Open(frame.data(), frame.size(), &plaintext_bytes).code, Code::kFrameAuthFailed);
  EXPECT_EQ(plaintext_bytes, 0u);
  EXPECT_EQ(Bytes(frame.begin() + kHeaderBytes, frame.end() - aead::kTagBytes), Bytes(64));
}

TEST_P(FrameTest, DoesNotOpenUnderAnotherKeyDirectionLaneOrSuite) {
  const auto lane_key = [](Suite suite, Role writer, uint32_t lane) { return LaneKey(KeyOf(5), suite, writer, lane); };
  const Suite suite = GetParam();
  const Suite other = suite == Suite::kAes256Gcm ? Suite::kChaCha20Poly1305 : Suite::kAes256Gcm;
  Sealer sealer(suite, lane_key(suite, Role::kInitiator, 0));
  const Bytes frame = Seal(&sealer, {1, 2, 3});
  Opener openers[] = {
      Opener(suite, lane_key(suite, Role::kInitiator, 0)), Opener(suite, KeyOf(5)),
      Opener(suite, lane_key(suite, Role::kResponder, 0)), Opener(suite, lane_key(suite, Role::kInitiator, 1)),
      Opener(other, lane_key(other, Role::kInitiator, 0)), Opener(other, lane_key(suite, Role::kInitiator, 0)),
  };
  EXPECT_EQ(Open(&openers[0], frame).code, Code::kOk);
  for (size_t i = 1; i < std::size(openers); i++) EXPECT_EQ(Open(&openers[i], frame).code, Code::kFrameAuthFailed) << i;
}

}  // namespace
}  // namespace keibi::frame
