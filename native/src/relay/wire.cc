// SPDX-License-Identifier: MPL-2.0
#include "relay/wire.h"

namespace keibi::relay {

using core::Code;
using core::Status;

std::vector<uint8_t> Hello(const Token& token) {
  std::vector<uint8_t> hello(kPreamble.begin(), kPreamble.end());
  hello.insert(hello.end(), token.begin(), token.end());
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
