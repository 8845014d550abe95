// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>

#include "bytes.h"
#include "core/bytes.h"
#include "frame/frame.h"

namespace keibi::test {

inline frame::Key KeyOf(uint8_t fill) {
  const Bytes bytes(frame::Key::size(), fill);
  return frame::Key(bytes.data());
}

inline Bytes BytesOf(const frame::Key& key) { return Bytes(key.data(), key.data() + frame::Key::size()); }

inline uint32_t EpochOf(const Bytes& frame) {
  return core::LoadBigEndian<uint32_t>(frame.data() + frame::kLengthBytes);
}

// The whole next frame; empty if the sealer refused.
inline Bytes Seal(frame::Sealer* sealer, const Bytes& plaintext) {
  Bytes frame(plaintext.size() + frame::kOverheadBytes);
  std::copy(plaintext.begin(), plaintext.end(), frame.begin() + frame::kHeaderBytes);
  frame.resize(sealer->Seal(frame.data(), plaintext.size()));
  return frame;
}

struct Opened {
  core::Code code;
  Bytes plaintext;
};

inline Opened Open(frame::Opener* opener, Bytes frame) {
  size_t plaintext_bytes = 0;
  const core::Status status = opener->Open(frame.data(), frame.size(), &plaintext_bytes);
  if (!status.ok()) return {status.code, {}};
  const auto begin = frame.begin() + frame::kHeaderBytes;
  return {status.code, Bytes(begin, begin + static_cast<std::ptrdiff_t>(plaintext_bytes))};
}

}  // namespace keibi::test
