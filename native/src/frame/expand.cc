// SPDX-License-Identifier: MPL-2.0
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "aead/libcrypto.h"
#include "core/bytes.h"
#include "frame/frame.h"

namespace keibi::frame {

namespace {

constexpr size_t kMostInfoBytes = 128;  // the longest label, a context of 32 bytes and the counter are below 90

}  // namespace

Key Expand(const Key& secret, const char* label, const uint8_t* context, size_t context_bytes) {
  aead::PrepareLibcrypto();
  // 32 bytes are less than one block of SHA-512, so the output is the head of T(1) = HMAC(secret, info || 1).
  // The context of a rekey is key material, so the copy is wiped like a key.
  core::Secret<kMostInfoBytes> info;
  const size_t label_bytes = std::strlen(label);
  const size_t info_bytes = label_bytes + context_bytes + 1;
  if (info_bytes > info.size()) std::abort();
  std::memcpy(info.data(), label, label_bytes);
  if (context_bytes > 0) std::memcpy(info.data() + label_bytes, context, context_bytes);
  info.data()[info_bytes - 1] = 1;
  core::Secret<64> block;
  unsigned int block_bytes = 0;
  const uint8_t* done =
      HMAC(EVP_sha512(), secret.data(), Key::size(), info.data(), info_bytes, block.data(), &block_bytes);
  // A failed HMAC would leave a constant as the key: abort instead of sealing under it.
  if (done == nullptr || block_bytes != block.size()) std::abort();
  return Key(block.data());
}

Key LaneKey(const Key& lane_secret, aead::Suite suite, Role writer, uint32_t lane) {
  const std::string label =
      std::string(aead::Label(suite)) + (writer == Role::kInitiator ? " lane initiator" : " lane responder");
  uint8_t number[sizeof lane];
  core::StoreBigEndian<uint32_t>(number, lane);
  return Expand(lane_secret, label.c_str(), number, sizeof number);
}

}  // namespace keibi::frame
