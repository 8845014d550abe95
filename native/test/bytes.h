// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace keibi::test {

using Bytes = std::vector<uint8_t>;

inline Bytes FromHex(std::string_view hex) {
  const auto digit = [](char c) { return static_cast<uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  Bytes bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return bytes;
}

inline Bytes FromText(std::string_view text) { return Bytes(text.begin(), text.end()); }

}  // namespace keibi::test
