// SPDX-License-Identifier: MPL-2.0
#include "kem/ml_kem.h"

#include <gtest/gtest.h>

#include "bytes.h"

namespace keibi::kem {
namespace {

using core::Code;
using test::Bytes;

struct Keys {
  Bytes open = Bytes(kPublicKeyBytes), secret = Bytes(kSecretKeyBytes);
};

// With libcrypto older than 3.5 ML-KEM is missing, and every call must say so.
TEST(MlKem1024, GivesBothSidesOneSecretOrIsNotThere) {
  Keys keys;
  Bytes ciphertext(kCiphertextBytes), ours(kSharedSecretBytes), theirs(kSharedSecretBytes);
  const Code expected = HasMlKem1024() ? Code::kOk : Code::kInternal;
  EXPECT_EQ(GenerateMlKem1024(keys.open.data(), keys.secret.data()).code, expected);
  EXPECT_EQ(EncapsulateMlKem1024(keys.open.data(), ciphertext.data(), ours.data()).code, expected);
  EXPECT_EQ(DecapsulateMlKem1024(keys.secret.data(), ciphertext.data(), theirs.data()).code, expected);
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(ours != Bytes(kSharedSecretBytes), HasMlKem1024());
}

TEST(MlKem1024, RefusesKeysThatAreNone) {
  const Bytes none(kSecretKeyBytes, 0xff);
  Bytes ciphertext(kCiphertextBytes), secret(kSharedSecretBytes);
  const Code expected = HasMlKem1024() ? Code::kHandshakeMalformed : Code::kInternal;
  EXPECT_EQ(EncapsulateMlKem1024(none.data(), ciphertext.data(), secret.data()).code, expected);
  EXPECT_EQ(DecapsulateMlKem1024(none.data(), ciphertext.data(), secret.data()).code, expected);
}

}  // namespace
}  // namespace keibi::kem
