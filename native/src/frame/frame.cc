// SPDX-License-Identifier: MPL-2.0
#include "frame/frame.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "aead/cipher.h"
#include "core/bytes.h"
#include "core/limits.h"
#include "frame/rekey.h"

namespace keibi::frame {
namespace {

using aead::Cipher;
using core::Code;
using core::LoadBigEndian;
using core::Status;
using core::StoreBigEndian;

constexpr char kRatchetLabel[] = "KeibiDrop ratchet";
constexpr char kRekeyLabel[] = "KeibiDrop rekey";
constexpr unsigned kRekeyShift = 24;  // the epoch field: rekey number 8 bits, epochs since the rekey 24 bits
constexpr uint32_t kEpochMask = (uint32_t{1} << kRekeyShift) - 1;
constexpr uint32_t kMaxRekey = UINT32_MAX >> kRekeyShift;

uint64_t RekeyBytes() {
  // Read once: getenv is not safe beside a thread that sets the environment.
  static const uint64_t bytes = [] {
    const char* text = std::getenv("KD_REKEY_BYTES");
    const uint64_t wanted = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return wanted == 0 ? core::kRatchetBytes : std::min(wanted, core::kRatchetBytes);
  }();
  return bytes;
}

// One direction's key and its position in the nonce sequence (PROTOCOL 4.1, 4.2).
struct Sequence {
  Sequence(aead::Suite suite, Cipher::Direction direction, Key first_key)
      : cipher(suite, direction), key(std::move(first_key)), usable(cipher.SetKey(key.data())) {}

  uint32_t rekey() const { return epoch >> kRekeyShift; }

  // Moves to the next epoch and erases the old key.
  bool Ratchet() {
    if ((epoch & kEpochMask) == kEpochMask) return false;
    key = Expand(key, kRatchetLabel);
    epoch++;
    return cipher.SetKey(key.data());
  }

  // Moves to the first epoch of a later rekey and mixes the rekey's secret into the key.
  bool Rekey(uint32_t number) {
    Key secret;
    if (number > kMaxRekey || !rekeys || !rekeys->Get(number, &secret)) return false;
    key = Expand(key, kRekeyLabel, secret.data(), Key::size());
    epoch = number << kRekeyShift;
    return cipher.SetKey(key.data());
  }

  Cipher cipher;
  Key key;
  bool usable;
  uint32_t epoch = 0;
  uint64_t counter = 0;  // of the next frame; continues across epochs
  std::shared_ptr<const RekeySecrets> rekeys;
};

}  // namespace

RatchetPolicy RatchetPolicy::Default() { return {RekeyBytes(), core::kRatchetFrames}; }

struct Sealer::State {
  Sequence sequence;
  RatchetPolicy policy;
  uint64_t epoch_bytes = 0;
  uint64_t epoch_frames = 0;

  bool EpochIsOver() const {
    return epoch_frames > 0 && (epoch_bytes >= policy.bytes || epoch_frames >= policy.frames);
  }

  bool RekeyIsDue() const { return sequence.rekeys && sequence.rekeys->newest() > sequence.rekey(); }

  bool BeginEpoch() {
    epoch_bytes = 0;
    epoch_frames = 0;
    return RekeyIsDue() ? sequence.Rekey(sequence.rekeys->newest()) : sequence.Ratchet();
  }
};

Sealer::Sealer(aead::Suite suite, Key key, RatchetPolicy policy)
    : state_(new State{Sequence(suite, Cipher::Direction::kSeal, std::move(key)),
                       {std::min(policy.bytes, core::kRatchetBytes), std::min(policy.frames, core::kRatchetFrames)}}) {}

Sealer::Sealer(Sealer&&) noexcept = default;
Sealer::~Sealer() = default;

size_t Sealer::Seal(uint8_t* frame, size_t plaintext_bytes) {
  State& state = *state_;
  Sequence& sequence = state.sequence;
  if (plaintext_bytes > core::kMaxFramePlaintext || !sequence.usable) return 0;
  if (state.RekeyIsDue() || state.EpochIsOver()) sequence.usable = state.BeginEpoch();
  if (!sequence.usable) return 0;

  uint8_t* const nonce = frame + kLengthBytes;
  uint8_t* const text = frame + kHeaderBytes;
  StoreBigEndian<uint32_t>(frame, static_cast<uint32_t>(aead::kNonceBytes + plaintext_bytes + aead::kTagBytes));
  StoreBigEndian<uint32_t>(nonce, sequence.epoch);
  StoreBigEndian<uint64_t>(nonce + 4, sequence.counter);
  // Spent before its use, so that no failure can lead to the same nonce again.
  sequence.counter++;
  state.epoch_frames++;
  state.epoch_bytes += plaintext_bytes;
  sequence.usable = sequence.cipher.Seal(nonce, frame, kLengthBytes, text, plaintext_bytes, text + plaintext_bytes);
  return sequence.usable ? plaintext_bytes + kOverheadBytes : 0;
}

void Sealer::Follow(std::shared_ptr<const RekeySecrets> rekeys) { state_->sequence.rekeys = std::move(rekeys); }

struct Opener::State {
  Sequence sequence;
  Status refusal = Status::Ok();  // the first one; it stays

  Status Refuse(Code code) { return refusal = Status::Of(code); }

  // Whether `nonce` is the next one in sequence. Moves to the next epoch or rekey if the nonce begins it.
  bool Follow(const uint8_t* nonce) {
    const uint32_t epoch = LoadBigEndian<uint32_t>(nonce);
    if (LoadBigEndian<uint64_t>(nonce + 4) != sequence.counter) return false;
    if (epoch == sequence.epoch) return true;
    const bool begins_rekey = epoch >> kRekeyShift > sequence.rekey() && (epoch & kEpochMask) == 0;
    if (begins_rekey) return sequence.Rekey(epoch >> kRekeyShift);
    return epoch == sequence.epoch + 1 && sequence.Ratchet();
  }
};

Opener::Opener(aead::Suite suite, Key key)
    : state_(new State{Sequence(suite, Cipher::Direction::kOpen, std::move(key))}) {
  if (!state_->sequence.usable) state_->refusal = Status::Of(Code::kInternal);
}

Opener::Opener(Opener&&) noexcept = default;
Opener::~Opener() = default;

void Opener::Follow(std::shared_ptr<const RekeySecrets> rekeys) { state_->sequence.rekeys = std::move(rekeys); }

Status Opener::BodyBytes(const uint8_t length_field[kLengthBytes], size_t* body_bytes) {
  const size_t length = LoadBigEndian<uint32_t>(length_field);
  const size_t least = kOverheadBytes - kLengthBytes;
  if (length < least || length > least + core::kMaxFramePlaintext) return Status::Of(Code::kFrameTooLarge);
  *body_bytes = length;
  return Status::Ok();
}

Status Opener::Open(uint8_t* frame, size_t frame_bytes, size_t* plaintext_bytes) {
  State& state = *state_;
  if (!state.refusal.ok()) return state.refusal;
  if (frame_bytes < kLengthBytes) return state.Refuse(Code::kFrameTruncated);
  size_t body_bytes = 0;
  if (const Status status = BodyBytes(frame, &body_bytes); !status.ok()) return state.Refuse(status.code);
  if (frame_bytes < kLengthBytes + body_bytes) return state.Refuse(Code::kFrameTruncated);
  // The length is additional data, so a length that does not fit the frame is forged.
  if (frame_bytes > kLengthBytes + body_bytes) return state.Refuse(Code::kFrameAuthFailed);

  const uint8_t* const nonce = frame + kLengthBytes;
  uint8_t* const text = frame + kHeaderBytes;
  const size_t text_bytes = frame_bytes - kOverheadBytes;
  if (!state.Follow(nonce)) return state.Refuse(Code::kFrameReplayed);
  if (!state.sequence.cipher.Open(nonce, frame, kLengthBytes, text, text_bytes, text + text_bytes)) {
    return state.Refuse(Code::kFrameAuthFailed);
  }
  state.sequence.counter++;
  *plaintext_bytes = text_bytes;
  return Status::Ok();
}

}  // namespace keibi::frame
