// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "core/bytes.h"
#include "core/limits.h"
#include "frame/frame.h"

// Untrusted bytes for an Opener. Beside the sanitizers this checks that only the sealer's frames open, and that an
// Opener that refused once never opens again.
using keibi::aead::Suite;
using keibi::frame::Key;
using keibi::frame::kHeaderBytes;
using keibi::frame::kLengthBytes;
using keibi::frame::kOverheadBytes;
using keibi::frame::Opener;
using keibi::frame::Sealer;
using keibi::fuzz::Check;
using Bytes = std::vector<uint8_t>;

namespace {

Key FixedKey() {
  const uint8_t bytes[32] = {1, 2, 3};
  return Key(bytes);
}

// Cuts `data` into frames by their own length fields, as a lane does. The Opener must refuse all of them, since the
// input's author has no key.
void OpenAll(Suite suite, const uint8_t* data, size_t size) {
  Opener opener(suite, FixedKey());
  while (size >= kLengthBytes) {
    size_t body_bytes = 0;
    size_t frame_bytes = size;
    if (Opener::BodyBytes(data, &body_bytes).ok()) frame_bytes = std::min(size, kLengthBytes + body_bytes);
    Bytes frame(data, data + frame_bytes);
    size_t plaintext_bytes = 0;
    Check(!opener.Open(frame.data(), frame.size(), &plaintext_bytes).ok());
    data += frame_bytes;
    size -= frame_bytes;
  }
}

// A genuine conversation with one alteration chosen by the input: position, mask, epoch length, sizes.
void Alter(Suite suite, const uint8_t* data, size_t size) {
  if (size < 8) return;
  Sealer sealer(suite, FixedKey(), {1u + data[0], 1u + data[1] % 8});
  Opener opener(suite, FixedKey());
  const size_t altered = data[2] % 4;
  bool refused = false;
  for (size_t i = 0; i < 4; i++) {
    Bytes frame(data[3 + i % 2] + kOverheadBytes);
    Check(sealer.Seal(frame.data(), frame.size() - kOverheadBytes) == frame.size());
    const uint8_t mask = i == altered ? data[5] : 0;
    frame[keibi::core::LoadBigEndian<uint16_t>(data + 6) % frame.size()] ^= mask;
    size_t plaintext_bytes = 0;
    refused = refused || mask != 0;
    Check(opener.Open(frame.data(), frame.size(), &plaintext_bytes).ok() == !refused);
    Check(refused || plaintext_bytes + kOverheadBytes == frame.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const Suite suite : {Suite::kAes256Gcm, Suite::kChaCha20Poly1305}) {
    OpenAll(suite, data, size);
    Alter(suite, data, size);
  }
  return 0;
}
