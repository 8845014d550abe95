// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aead/suite.h"
#include "core/secret.h"
#include "core/status.h"

namespace keibi::frame {

using Key = core::Secret<aead::kKeyBytes>;

inline constexpr size_t kLengthBytes = 4;
inline constexpr size_t kHeaderBytes = kLengthBytes + aead::kNonceBytes;  // the bytes before the ciphertext
inline constexpr size_t kOverheadBytes = kHeaderBytes + aead::kTagBytes;

// How long one epoch lasts (PROTOCOL 4.2). Tests use shorter epochs (KD_REKEY_BYTES).
struct RatchetPolicy {
  uint64_t bytes;
  uint64_t frames;
  static RatchetPolicy Default();  // RATCHET_BYTES (or the environment's KD_REKEY_BYTES, if smaller), RATCHET_FRAMES
};

class RekeySecrets;

// Seals frames in place (PROTOCOL 4). One writer, one thread at a time.
class Sealer {
 public:
  Sealer(aead::Suite suite, Key key, RatchetPolicy policy = RatchetPolicy::Default());
  Sealer(Sealer&&) noexcept;  // a moved-from object may only be destroyed
  ~Sealer();

  //   frame: | 16 bytes, written here | n bytes of plaintext, sealed in place | 16 bytes, written here |
  // Returns the frame's whole size, n + kOverheadBytes. Returns 0 if n is over kMaxFramePlaintext or the cipher failed
  // (a bug).
  size_t Seal(uint8_t* frame, size_t plaintext_bytes);

  // From now on Seal moves to the newest rekey before each frame (PROTOCOL 4.3).
  void Follow(std::shared_ptr<const RekeySecrets> rekeys);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Opens frames in place, in order. A refusal is final: every later call returns the same status. One reader, one thread
// at a time.
class Opener {
 public:
  Opener(aead::Suite suite, Key key);
  Opener(Opener&&) noexcept;  // a moved-from object may only be destroyed
  ~Opener();

  // The bytes that follow the length field, or kFrameTooLarge when the field is out of range.
  static core::Status BodyBytes(const uint8_t length_field[kLengthBytes], size_t* body_bytes);

  // frame: one whole frame; on success its plaintext is at frame + kHeaderBytes.
  // Errors: kFrameTooLarge, kFrameTruncated (fewer bytes than the length field says), kFrameReplayed (an unexpected
  // nonce), kFrameAuthFailed (the plaintext area is zeroed), kInternal (the cipher failed: a bug).
  core::Status Open(uint8_t* frame, size_t frame_bytes, size_t* plaintext_bytes);

  // Sets the source of the rekey secrets to which the writer may move (PROTOCOL 4.3).
  void Follow(std::shared_ptr<const RekeySecrets> rekeys);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// HKDF-Expand with SHA-512 to 32 bytes (RFC 5869 2.3), info = label || context.
Key Expand(const Key& secret, const char* label, const uint8_t* context = nullptr, size_t context_bytes = 0);

enum class Role : uint8_t { kInitiator, kResponder };

// The key under which `writer` writes on a lane (PROTOCOL 3, last table row).
Key LaneKey(const Key& lane_secret, aead::Suite suite, Role writer, uint32_t lane);

}  // namespace keibi::frame
