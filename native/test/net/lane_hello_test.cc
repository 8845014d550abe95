// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/socket.h>

#include "core/limits.h"
#include "net/lane_registry.h"
#include "served.h"

// PROTOCOL 5.1, over real sockets.
namespace keibi::net {
namespace {

using core::Code;
using frame::Role;
using frame::Sealer;
using test::Bytes;
using test::Dialler;
using test::FromText;

class LaneHelloTest : public test::ServedTest {
 protected:
  void SetUp() override {
    Serve();
    lanes_ = Expect();
  }
  // Sends `hello` and returns whether the listener closed the connection for it.
  bool IsRefused(const Bytes& hello) {
    Dialler dialler = Dial();
    dialler.Send(hello);
    return dialler.IsClosed() && lanes_->inbox.size() == 0;
  }

  std::shared_ptr<test::Lanes> lanes_;
};

TEST_F(LaneHelloTest, HandsOverABlockingConnectionAndBothDirections) {
  Sealer sealer(kSuite, LaneKey(3, Role::kInitiator));
  frame::Opener opener(kSuite, LaneKey(3, Role::kResponder));
  Dialler dialler = Dial();
  dialler.Send(Hello(3, &sealer));
  auto lane = lanes_->inbox.Take();
  ASSERT_TRUE(lane.has_value());
  EXPECT_EQ(lane->number, 3u);
  EXPECT_EQ(fcntl(lane->fd.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(test::Open(lane->opener.get(), test::Seal(&sealer, {7})).plaintext, Bytes{7});

  const Bytes frame = test::Seal(lane->sealer.get(), {8});
  ASSERT_EQ(send(lane->fd.get(), frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  EXPECT_EQ(test::Open(&opener, dialler.Receive(frame.size())).plaintext, Bytes{8});
}

TEST_F(LaneHelloTest, LeavesWhatFollowsItToTheLane) {
  Bytes sent = RightHello(0);
  for (const uint8_t byte : FromText("next")) sent.push_back(byte);
  Dialler dialler = Dial();
  dialler.Send(sent);
  auto lane = lanes_->inbox.Take();
  ASSERT_TRUE(lane.has_value());
  Bytes next(4);
  EXPECT_EQ(recv(lane->fd.get(), next.data(), next.size(), 0), 4);
  EXPECT_EQ(next, FromText("next"));
}

TEST_F(LaneHelloTest, IsPutTogetherFromSingleBytes) {
  Dialler dialler = Dial();
  for (const uint8_t byte : RightHello(1)) {
    dialler.Send(Bytes{byte});
    ExpectServed();  // the listener has examined the byte
  }
  EXPECT_TRUE(lanes_->inbox.Take().has_value());
}

TEST_F(LaneHelloTest, TakesEveryLaneOfASessionOnce) {
  std::vector<Dialler> diallers;
  for (uint32_t lane = 0; lane < core::kMaxLaneNumbers; lane++) {
    diallers.push_back(Dial());
    diallers.back().Send(RightHello(lane));
    const auto taken = lanes_->inbox.Take();
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->number, lane);
  }
  for (uint32_t lane = 0; lane < core::kMaxLaneNumbers; lane++) EXPECT_TRUE(IsRefused(RightHello(lane))) << lane;
}

TEST_F(LaneHelloTest, IsRefusedWhenWrongAndCostsTheSessionNothing) {
  Sealer other_key(kSuite, test::KeyOf(9)), other_direction(kSuite, LaneKey(0, Role::kResponder));
  Sealer other_lane(kSuite, LaneKey(1, Role::kInitiator)), late(kSuite, LaneKey(0, Role::kInitiator));
  Sealer beyond(kSuite, LaneKey(core::kMaxLaneNumbers, Role::kInitiator)),
      far(kSuite, LaneKey(UINT32_MAX, Role::kInitiator));
  Sealer kind(kSuite, LaneKey(0, Role::kInitiator)), longer(kSuite, LaneKey(0, Role::kInitiator));
  Sealer elsewhere(kSuite, LaneKey(0, Role::kInitiator));
  test::Seal(&late, {0});
  EXPECT_TRUE(IsRefused(Hello(0, &other_key)));
  EXPECT_TRUE(IsRefused(Hello(0, &other_direction)));
  EXPECT_TRUE(IsRefused(Hello(0, &other_lane)));
  EXPECT_TRUE(IsRefused(Hello(0, &late)));  // its frame is the sealer's second one
  EXPECT_TRUE(IsRefused(Hello(core::kMaxLaneNumbers, &beyond)));
  EXPECT_TRUE(IsRefused(Hello(UINT32_MAX, &far)));
  EXPECT_TRUE(IsRefused(Hello(0, &kind, kSession, {1})));
  EXPECT_TRUE(IsRefused(Hello(0, &longer, kSession, {0, 0})));
  EXPECT_TRUE(IsRefused(Hello(0, &elsewhere, {3, 2, 1})));

  Dialler dialler = Dial();
  dialler.Send(RightHello(0));
  EXPECT_TRUE(lanes_->inbox.Take().has_value());
}

TEST_F(LaneHelloTest, IsRefusedWithAnyByteChanged) {
  const Bytes hello = RightHello(0);
  for (size_t at = 0; at < hello.size(); at++) {
    Bytes changed = hello;
    changed[at] ^= 0x40;
    EXPECT_TRUE(IsRefused(changed)) << at;
  }
}

TEST_F(LaneHelloTest, IsRefusedOnceItsSessionIsForgotten) {
  listener_->Forget({3, 2, 1});  // another session
  Dialler dialler = Dial();
  dialler.Send(RightHello(0));
  EXPECT_TRUE(lanes_->inbox.Take().has_value());
  listener_->Forget(kSession);
  EXPECT_TRUE(IsRefused(RightHello(1)));
}

TEST_F(LaneHelloTest, GoesToTheSessionThatItNames) {
  const SessionId other = {9};
  const auto others = Expect(other);
  Sealer sealer(kSuite, LaneKey(0, Role::kInitiator));
  Dialler dialler = Dial();
  dialler.Send(Hello(0, &sealer, other));
  EXPECT_TRUE(others->inbox.Take().has_value());
  EXPECT_EQ(lanes_->inbox.size(), 0u);
}

// A lane that is dialled right after the handshake, before the sender has created the session's job.
class EarlyLaneTest : public test::ServedTest {
 protected:
  Dialler DialEarly(uint32_t lane) {
    Dialler dialler = Dial();
    dialler.Send(RightHello(lane));
    ExpectServed();  // the listener has examined the hello
    return dialler;
  }
};

TEST_F(EarlyLaneTest, IsHeldUntilItsSessionIsExpected) {
  Serve();
  ExpectServed();  // the control connection of the handshake
  Dialler early = DialEarly(0), other = DialEarly(1);
  const auto lanes = Expect();
  for (const uint32_t number : {0u, 1u}) {
    const auto lane = lanes->inbox.Take();
    ASSERT_TRUE(lane.has_value());
    EXPECT_EQ(lane->number, number);
  }
  EXPECT_EQ(listener_->drops().malformed, 0u);
}

TEST_F(EarlyLaneTest, IsCheckedLikeAnyOtherOnceItsSessionIsExpected) {
  Serve();
  ExpectServed();
  Sealer other_key(kSuite, test::KeyOf(9));
  Dialler wrong = Dial();
  wrong.Send(Hello(0, &other_key));
  ExpectServed();
  const auto lanes = Expect();
  EXPECT_TRUE(wrong.IsClosed());
  EXPECT_EQ(lanes->inbox.size(), 0u);
}

TEST_F(EarlyLaneTest, IsClosedAtTheDeadlineOfItsConnection) {
  Serve({.host = "", .decision_ms = 500});
  ExpectServed();
  Dialler early = Dial();
  early.Send(RightHello(0));
  EXPECT_TRUE(early.IsClosed());
  EXPECT_EQ(listener_->drops().slow, 1u);
}

TEST_F(EarlyLaneTest, CostsTheOldestOfItsNetworkItsPlaceIfTooManyWait) {
  Serve({.host = "", .decision_ms = 600000});
  ExpectServed();
  std::vector<Dialler> early;
  for (uint32_t lane = 0; lane <= kMaxHeldLanes; lane++) early.push_back(DialEarly(lane));
  EXPECT_TRUE(early[0].IsClosed());
  EXPECT_EQ(listener_->drops().crowded_out, 1u);
  const auto lanes = Expect();
  for (uint32_t lane = 1; lane <= kMaxHeldLanes; lane++) {
    const auto taken = lanes->inbox.Take();
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->number, lane);
  }
}

TEST_F(EarlyLaneTest, IsRefusedAtOnceWhereNoHandshakeHasBegun) {
  Serve();
  Dialler early = Dial();
  early.Send(RightHello(0));
  EXPECT_TRUE(early.IsClosed());
  EXPECT_EQ(listener_->drops().malformed, 1u);
}

}  // namespace
}  // namespace keibi::net
