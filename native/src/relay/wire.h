// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/status.h"

namespace keibi::relay {

// A client's first bytes to a relay, and the relay's answer (PROTOCOL 2.3):
//
//   0            8          40
//   | "KEIBI-R1" | token 32 |             ->        <- | answer 1 |
//
// The relay joins two connections with one token; after the answer kJoined bytes run both ways.
inline constexpr std::string_view kPreamble = "KEIBI-R1";
inline constexpr size_t kTokenBytes = 32;
using Token = std::array<uint8_t, kTokenBytes>;

enum class Answer : uint8_t {
  kJoined = 1,
  kNoRoom = 2,      // in total or for this address, or the token is in use
  kNobodyCame = 3,  // no other side came in time
};

using RelayHello = std::array<uint8_t, kPreamble.size() + kTokenBytes>;
RelayHello HelloOf(const Token& token);

// kOk for kJoined, kRendezvousBusy, kHandshakeTimeout; kHandshakeMalformed for an unknown byte.
core::Status StatusOf(uint8_t answer);

}  // namespace keibi::relay
