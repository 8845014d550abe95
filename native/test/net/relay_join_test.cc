// SPDX-License-Identifier: MPL-2.0
#include "net/relay_join.h"

#include <atomic>

#include "net/socket.h"
#include "relayed.h"

namespace keibi::net {
namespace {

using core::Code;
using core::Status;
using std::chrono::milliseconds;
using test::Bytes;
using test::Dialler;
using test::FromText;
using test::TokenOf;

constexpr milliseconds kJoinPatience{5000};

// listener_ is the relay; sender_ joins it.
class RelayJoinTest : public test::RelayedTest {
 protected:
  void SetUp() override {
    const auto put = [this](Incoming incoming) { joined_.Put(std::move(incoming)); };
    ASSERT_TRUE(Listener::Open({.host = "127.0.0.1"}, put, &sender_).ok());
  }

  void Join(uint32_t token, milliseconds wait = kJoinPatience, uint16_t port = 0) {
    sender_->JoinRelay({"127.0.0.1", port == 0 ? listener_->port() : port, TokenOf(token), wait},
                       [this](Status status) { outcomes_.Put(status); });
  }
  Code Outcome() { return outcomes_.Take().value_or(Status::Of(Code::kInternal)).code; }

  test::Inbox<Incoming> joined_;
  test::Inbox<Status> outcomes_;
  std::shared_ptr<Listener> sender_;
};

TEST_F(RelayJoinTest, HandsOverAControlConnectionLikeOneThatWasAccepted) {
  ServeRelay();
  Join(7);
  Dialler receiver = Show(7);
  EXPECT_EQ(receiver.Receive(1), kJoined);
  EXPECT_EQ(Outcome(), Code::kOk);
  receiver.Send("KEIBI-C1");
  const auto incoming = joined_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->kind, Incoming::Kind::kControl);
  EXPECT_TRUE(incoming->relayed);
  EXPECT_EQ(incoming->address, "127.0.0.1");
  EXPECT_EQ(incoming->port, listener_->port());
}

TEST_F(RelayJoinTest, TakesALaneThroughTheRelay) {
  ServeRelay();
  const auto lanes = std::make_shared<test::Lanes>();
  sender_->Expect({kSession, test::KeyOf(4), kSuite, frame::Role::kResponder}, lanes);
  Join(7);
  Dialler receiver = Show(7);
  EXPECT_EQ(receiver.Receive(1), kJoined);
  receiver.Send(RightHello(3));
  const auto lane = lanes->inbox.Take();
  ASSERT_TRUE(lane.has_value());
  EXPECT_EQ(lane->number, 3u);
}

TEST_F(RelayJoinTest, SaysWhyItFailed) {
  ServeRelay({100, 100, 1000, milliseconds(50), kLong, kLong});
  Join(7);
  EXPECT_EQ(Outcome(), Code::kHandshakeTimeout);  // reported by the relay
  ServeRelay({0, 0, 1000, kLong, kLong, kLong});
  Join(7);
  EXPECT_EQ(Outcome(), Code::kRendezvousBusy);
  ServeRelay();
  Join(7, milliseconds(50));
  EXPECT_EQ(Outcome(), Code::kHandshakeTimeout);  // reported by the waiting side
  const uint16_t port = listener_->port();
  listener_->Stop();
  Join(7, kJoinPatience, port);
  EXPECT_EQ(Outcome(), Code::kPeerUnreachable);
}

TEST_F(RelayJoinTest, FailsAtARelayThatIsNoneOrAnswersNonsense) {
  Serve();
  Join(7);
  EXPECT_EQ(Outcome(), Code::kPeerUnreachable);
  EXPECT_EQ(relay::StatusOf('?').code, Code::kHandshakeMalformed);
  EXPECT_EQ(relay::StatusOf(0).code, Code::kHandshakeMalformed);
}

TEST_F(RelayJoinTest, IsCancelledWhenTheListenerStops) {
  ServeRelay();
  Join(7);
  EXPECT_TRUE(Reaches(&relay::Stats::waiting, 1));
  sender_->Stop();
  EXPECT_EQ(Outcome(), Code::kCancelled);
  Join(8);
  EXPECT_EQ(Outcome(), Code::kCancelled);
}

TEST_F(RelayJoinTest, IsCancelledByItsNumberAndNoOther) {
  ServeRelay();
  const auto join = [this](uint32_t token, uint64_t number) {
    sender_->JoinRelay({"127.0.0.1", listener_->port(), TokenOf(token), kJoinPatience, number},
                       [this](Status status) { outcomes_.Put(status); });
  };
  join(7, 1);
  join(8, 2);
  EXPECT_TRUE(Reaches(&relay::Stats::waiting, 2));
  sender_->CancelJoin(1);
  sender_->CancelJoin(3);
  EXPECT_EQ(Outcome(), Code::kCancelled);
  EXPECT_TRUE(Reaches(&relay::Stats::waiting, 1));  // its connection is closed
  Dialler receiver = Show(8);
  EXPECT_EQ(receiver.Receive(1), kJoined);
  EXPECT_EQ(Outcome(), Code::kOk);
  join(9, 4);
  sender_->CancelJoin(4);  // perhaps before it began
  EXPECT_EQ(Outcome(), Code::kCancelled);
}

TEST_F(RelayJoinTest, BlocksForALaneUntilTheOtherSideCame) {
  ServeRelay();
  Dialler other = Show(7);
  const std::atomic<bool> stopped = false;
  core::Fd fd;
  ASSERT_TRUE(net::Dial("127.0.0.1", listener_->port(), kJoinPatience, stopped, &fd).ok());
  EXPECT_TRUE(JoinRelay(fd.get(), TokenOf(7), kJoinPatience, stopped).ok());
  EXPECT_EQ(other.Receive(1), kJoined);

  ASSERT_TRUE(net::Dial("127.0.0.1", listener_->port(), kJoinPatience, stopped, &fd).ok());
  EXPECT_EQ(JoinRelay(fd.get(), TokenOf(8), milliseconds(50), stopped).code, Code::kHandshakeTimeout);
  ASSERT_TRUE(net::Dial("127.0.0.1", listener_->port(), kJoinPatience, stopped, &fd).ok());
  EXPECT_EQ(JoinRelay(fd.get(), TokenOf(9), kJoinPatience, true).code, Code::kCancelled);
}

}  // namespace
}  // namespace keibi::net
