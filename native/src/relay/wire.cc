// SPDX-License-Identifier: MPL-2.0
#include "relay/wire.h"

#include <algorithm>

namespace keibi::relay {

using core::Code;
using core::Status;

RelayHello HelloOf(const Token& token) {
  RelayHello hello;
  const auto behind = std::copy(kPreamble.begin(), kPreamble.end(), hello.begin());
  std::copy(token.begin(), token.end(), behind);
  return hello;
}

Status StatusOf(uint8_t answer) {
  switch (static_cast<Answer>(answer)) {
    case Answer::kJoined:
      return Status::Ok();
    case Answer::kNoRoom:
      return Status::Of(Code::kRendezvousBusy);
    case Answer::kNobodyCame:
      return Status::Of(Code::kHandshakeTimeout);
  }
  return Status::Of(Code::kHandshakeMalformed);
}

}  // namespace keibi::relay
