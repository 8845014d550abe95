// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace keibi::core {

void Wipe(void* memory, size_t bytes);  // secret.cc: OPENSSL_cleanse, never optimised away

// N bytes of key material: wiped when destroyed or moved from, not copyable by accident.
template <size_t N>
class Secret {
 public:
  Secret() { bytes_.fill(0); }
  explicit Secret(const uint8_t* from) { std::memcpy(bytes_.data(), from, N); }
  Secret(Secret&& other) noexcept : bytes_(other.bytes_) { Wipe(other.bytes_.data(), N); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      bytes_ = other.bytes_;
      Wipe(other.bytes_.data(), N);
    }
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { Wipe(bytes_.data(), N); }

  Secret Clone() const { return Secret(bytes_.data()); }
  uint8_t* data() { return bytes_.data(); }
  const uint8_t* data() const { return bytes_.data(); }
  static constexpr size_t size() { return N; }

 private:
  std::array<uint8_t, N> bytes_;
};

}  // namespace keibi::core
