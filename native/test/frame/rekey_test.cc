// SPDX-License-Identifier: MPL-2.0
#include "frame/rekey.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/bytes.h"
#include "frame/frames.h"

// The rekeys of PROTOCOL 4.3.
namespace keibi::frame {
namespace {

using aead::Suite;
using core::Code;
using test::Bytes;
using test::EpochOf;
using test::KeyOf;
using test::Open;
using test::Seal;

constexpr RatchetPolicy kLong = {1 << 20, 1000};

struct Pair {
  std::shared_ptr<RekeySecrets> written = std::make_shared<RekeySecrets>();
  std::shared_ptr<RekeySecrets> read = std::make_shared<RekeySecrets>();
  Sealer sealer{Suite::kAes256Gcm, KeyOf(1), kLong};
  Opener opener{Suite::kAes256Gcm, KeyOf(1)};

  Pair() {
    sealer.Follow(written);
    opener.Follow(read);
  }
};

TEST(RekeyTest, IsFollowedByAReaderThatHasItsSecret) {
  Pair pair;
  EXPECT_EQ(Open(&pair.opener, Seal(&pair.sealer, Bytes(9, 1))).code, Code::kOk);
  pair.read->Add(1, KeyOf(7));
  EXPECT_EQ(Open(&pair.opener, Seal(&pair.sealer, Bytes(9, 1))).code, Code::kOk);  // the writer has not moved yet
  pair.written->Add(1, KeyOf(7));
  const Bytes moved = Seal(&pair.sealer, Bytes(9, 2));
  EXPECT_EQ(EpochOf(moved), 1u << 24);
  EXPECT_EQ(Open(&pair.opener, moved).code, Code::kOk);
}

TEST(RekeyTest, KeepsItsOwnEpochs) {
  Pair pair;
  Sealer sealer(Suite::kAes256Gcm, KeyOf(1), {10, 2});
  sealer.Follow(pair.written);
  for (uint32_t number = 1; number <= 4; number++) {
    pair.read->Add(number, KeyOf(static_cast<uint8_t>(number)));
    pair.written->Add(number, KeyOf(static_cast<uint8_t>(number)));
    for (uint32_t i = 0; i < 6; i++) {
      const Bytes frame = Seal(&sealer, {});
      EXPECT_EQ(EpochOf(frame), (number << 24) + i / 2);
      ASSERT_EQ(Open(&pair.opener, frame).code, Code::kOk);
    }
  }
}

TEST(RekeyTest, WithAnotherSecretDoesNotOpen) {
  Pair pair;
  pair.read->Add(1, KeyOf(8));
  pair.written->Add(1, KeyOf(7));
  EXPECT_EQ(Open(&pair.opener, Seal(&pair.sealer, Bytes(9, 1))).code, Code::kFrameAuthFailed);
}

TEST(RekeyTest, OfWhichTheReaderKnowsNothingIsRefused) {
  Pair pair;
  pair.written->Add(1, KeyOf(7));
  EXPECT_EQ(Open(&pair.opener, Seal(&pair.sealer, Bytes(9, 1))).code, Code::kFrameReplayed);
}

TEST(RekeyTest, CannotHideAFrameThatIsMissing) {
  Pair pair;
  pair.read->Add(1, KeyOf(7));
  (void)Seal(&pair.sealer, Bytes(9, 1));  // never arrives
  pair.written->Add(1, KeyOf(7));
  EXPECT_EQ(Open(&pair.opener, Seal(&pair.sealer, Bytes(9, 1))).code, Code::kFrameReplayed);
}

TEST(RekeyTest, NumbersThatAreNotTheNextAreIgnored) {
  RekeySecrets secrets;
  secrets.Add(2, KeyOf(1));
  EXPECT_EQ(secrets.newest(), 0u);
  secrets.Add(1, KeyOf(1));
  secrets.Add(1, KeyOf(2));
  Key secret;
  ASSERT_TRUE(secrets.Get(1, &secret));
  EXPECT_EQ(secret.data()[0], KeyOf(1).data()[0]);
}

}  // namespace
}  // namespace keibi::frame
