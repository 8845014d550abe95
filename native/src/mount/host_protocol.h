// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bytes.h"

namespace keibi::mount {

// How the messages of proto/mount-host.mjs are built and parsed; mount/host_messages.h is generated from that table.

// Builds a message.
class Writer {
 public:
  template <typename T>
  Writer& Number(T value) {
    std::array<uint8_t, sizeof(T)> bytes;
    core::StoreBigEndian<T>(bytes.data(), value);
    Append(bytes.data(), bytes.size());
    return *this;
  }
  Writer& Text(std::string_view text) { return Number(static_cast<uint16_t>(text.size())).Rest(text); }
  Writer& Rest(std::string_view text) {
    Append(text.data(), text.size());
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  void Append(const void* from, size_t length);

  std::vector<uint8_t> bytes_;
};

// Parses a message. After a missing field all further fields read as zero or empty, and ok() is false.
class Reader {
 public:
  Reader(const uint8_t* bytes, size_t length) : at_(bytes), left_(length) {}

  template <typename T>
  T Number() {
    const uint8_t* const from = Take(sizeof(T));
    return from == nullptr ? T{} : core::LoadBigEndian<T>(from);
  }
  std::string_view Text() {
    const size_t length = Number<uint16_t>();
    const uint8_t* const from = Take(length);
    return from == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(from), length);
  }
  // All that is left.
  std::string_view Rest() {
    const size_t length = left_;
    const uint8_t* const from = Take(length);
    return from == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(from), length);
  }
  bool ok() const { return ok_; }
  size_t left() const { return left_; }

 private:
  const uint8_t* Take(size_t length) {
    if (!ok_ || left_ < length) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* const from = at_;
    at_ += length;
    left_ -= length;
    return from;
  }

  const uint8_t* at_;
  size_t left_;
  bool ok_ = true;
};

}  // namespace keibi::mount
