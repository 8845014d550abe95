// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>

#include <set>

#include "bytes.h"
#include "core/limits.h"
#include "frame/frames.h"

namespace keibi::frame {
namespace {

using test::Bytes;
using test::BytesOf;
using test::FromHex;
using test::KeyOf;

// RFC 5869 has no vectors for SHA-512; these are Python's hmac.new(key, info + b'\x01', 'sha512').digest()[:32].
struct ExpandVector {
  const char* label;
  Bytes context;
  const char* output;
};

const ExpandVector kVectors[] = {
    {"KeibiDrop ratchet", {}, "1920ae16e8d949f72b4166fdfd30a5429b4c7ec8b4435b817fd092a07580ada1"},
    {"KeibiDrop-AES-256-GCM-SEK lane initiator",
     {0, 0, 0, 3},
     "e65aaa8f8de17455ac63fa566636192899648937b09e1550245396f4e23ba6e0"},
    {"KeibiDrop-ChaCha20-Poly1305-SEK lane responder",
     {0, 0, 0, 15},
     "c89eb1a0ac331491c92a9dcc7d2bcbb5336c7dc403c425bff000df508e9a781e"},
};

Key CountingKey() {
  Bytes bytes(Key::size());
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(i);
  return Key(bytes.data());
}

TEST(ExpandTest, IsHkdfExpandWithSha512) {
  for (const ExpandVector& vector : kVectors) {
    const Key output = Expand(CountingKey(), vector.label, vector.context.data(), vector.context.size());
    EXPECT_EQ(BytesOf(output), FromHex(vector.output)) << vector.label;
  }
}

TEST(LaneKeyTest, IsTheProtocolsDerivation) {
  EXPECT_EQ(BytesOf(LaneKey(CountingKey(), aead::Suite::kAes256Gcm, Role::kInitiator, 3)), FromHex(kVectors[1].output));
  EXPECT_EQ(BytesOf(LaneKey(CountingKey(), aead::Suite::kChaCha20Poly1305, Role::kResponder, 15)),
            FromHex(kVectors[2].output));
}

TEST(LaneKeyTest, DiffersForEverySuiteDirectionAndLane) {
  std::set<Bytes> keys;
  for (const auto suite : {aead::Suite::kAes256Gcm, aead::Suite::kChaCha20Poly1305}) {
    for (const auto writer : {Role::kInitiator, Role::kResponder}) {
      for (uint32_t lane = 0; lane < core::kMaxLanes; lane++)
        keys.insert(BytesOf(LaneKey(KeyOf(7), suite, writer, lane)));
    }
  }
  EXPECT_EQ(keys.size(), 2 * 2 * core::kMaxLanes);
}

TEST(SecretTest, IsWipedWhereItWasMovedFrom) {
  Key first = KeyOf(9);
  const Key second = std::move(first);
  EXPECT_EQ(BytesOf(first), Bytes(Key::size()));  // NOLINT(bugprone-use-after-move): the moved-from state is under test
  EXPECT_EQ(BytesOf(second), Bytes(Key::size(), 9));
}

}  // namespace
}  // namespace keibi::frame
