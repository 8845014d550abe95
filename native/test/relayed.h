// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <thread>
#include <utility>

#include "relay/wire.h"
#include "served.h"

namespace keibi::test {

inline relay::Token TokenOf(uint32_t number) {
  relay::Token token{};
  core::StoreBigEndian<uint32_t>(token.data(), number);
  return token;
}

// A running listener on loopback that also relays.
class RelayedTest : public ServedTest {
 protected:
  static constexpr std::chrono::hours kLong{1};
  static constexpr relay::Limits kRoomy{100, 100, 1000, kLong, kLong, kLong};

  void ServeRelay(const relay::Limits& limits = kRoomy) {
    if (listener_ == nullptr) Serve();
    ASSERT_TRUE(listener_->ServeRelay(limits).ok());
  }

  // Sends its token; does not read the answer.
  Dialler Show(uint32_t token) {
    Dialler dialler = Dial();
    const relay::RelayHello hello = relay::HelloOf(TokenOf(token));
    EXPECT_TRUE(dialler.Send(Bytes(hello.begin(), hello.end())));
    return dialler;
  }

  std::pair<Dialler, Dialler> Pair(uint32_t token) {
    std::pair<Dialler, Dialler> pair{Show(token), Show(token)};
    EXPECT_EQ(pair.first.Receive(1), kJoined);
    EXPECT_EQ(pair.second.Receive(1), kJoined);
    return pair;
  }

  // Waits until this count of the relay has this value.
  testing::AssertionResult Reaches(uint64_t relay::Stats::*count, uint64_t value) {
    for (int i = 0; i < 1000; i++) {
      if (listener_->relay_stats().*count == value) return testing::AssertionSuccess();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return testing::AssertionFailure() << listener_->relay_stats().*count << " and not " << value;
  }

  const Bytes kJoined = {1}, kNoRoom = {2}, kNobodyCame = {3};
};

}  // namespace keibi::test
