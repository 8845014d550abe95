// SPDX-License-Identifier: MPL-2.0
#include <sys/resource.h>

#include <ctime>
#include <thread>
#include <vector>

#include "relay/address_count.h"
#include "relayed.h"

namespace keibi::relay {
namespace {

using std::chrono::milliseconds;
using test::Bytes;
using test::Dialler;
using test::FromText;
using test::TokenOf;

class RelayTest : public test::RelayedTest {};

// `bytes` of a pattern that reveals a missing, doubled or moved piece.
Bytes RelayPattern(size_t bytes) {
  Bytes pattern(bytes);
  for (size_t i = 0; i < bytes; i++) pattern[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return pattern;
}

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST_F(RelayTest, JoinsTwoConnectionsOfOneTokenAndForwardsBothWays) {
  ServeRelay();
  auto [one, other] = Pair(7);
  one.Send("there");
  other.Send("and back");
  EXPECT_EQ(other.Receive(5), FromText("there"));
  EXPECT_EQ(one.Receive(8), FromText("and back"));
  EXPECT_EQ(listener_->relay_stats().pairs, 1u);
  EXPECT_EQ(listener_->relay_stats().joined, 1u);
  EXPECT_TRUE(Reaches(&Stats::bytes, 13));
}

TEST_F(RelayTest, ForwardsMuchBothWaysAtOnce) {
  ServeRelay();
  auto [one, other] = Pair(7);
  const Bytes sent = RelayPattern(20'000'000);
  std::thread writers[] = {std::thread([&one = one, &sent] { EXPECT_TRUE(one.Send(sent)); }),
                           std::thread([&other = other, &sent] { EXPECT_TRUE(other.Send(sent)); })};
  std::thread reader([&one = one, &sent] { EXPECT_EQ(one.Receive(sent.size()), sent); });
  EXPECT_EQ(other.Receive(sent.size()), sent);
  reader.join();
  for (std::thread& writer : writers) writer.join();
}

TEST_F(RelayTest, ForwardsNoMoreThanItsRateAndLosesNothing) {
  constexpr uint64_t kRate = 4 << 20;
  relay::Limits limits = kRoomy;
  limits.bytes_per_second = kRate;
  ServeRelay(limits);
  auto [one, other] = Pair(7);
  auto [third, fourth] = Pair(8);
  const Bytes sent = RelayPattern(700'000);
  const auto began = std::chrono::steady_clock::now();
  std::thread writers[] = {std::thread([&one = one, &sent] { EXPECT_TRUE(one.Send(sent)); }),
                           std::thread([&fourth = fourth, &sent] { EXPECT_TRUE(fourth.Send(sent)); })};
  EXPECT_EQ(other.Receive(sent.size()), sent);
  EXPECT_EQ(third.Receive(sent.size()), sent);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  for (std::thread& writer : writers) writer.join();
  // A sixteenth of a second's bytes may be ahead, plus one turn in each direction.
  EXPECT_GE(taken.count(), static_cast<double>(2 * sent.size()) / kRate - 3.0 / 16);
}

TEST_F(RelayTest, TakesATokenThatComesByteByByte) {
  ServeRelay();
  Dialler slow = Dial();
  for (const uint8_t byte : HelloOf(TokenOf(7))) {
    slow.Send(Bytes{byte});
    ExpectServed();
  }
  Dialler other = Show(7);
  EXPECT_EQ(slow.Receive(1), kJoined);
}

TEST_F(RelayTest, ForwardsAHalfCloseAndKeepsTheOtherDirectionOpen) {
  ServeRelay();
  auto [one, other] = Pair(7);
  one.Send("last");
  one.EndSending();
  EXPECT_EQ(other.Receive(4), FromText("last"));
  EXPECT_TRUE(other.IsClosed());
  other.Send("still here");
  other.EndSending();
  EXPECT_EQ(one.Receive(100), FromText("still here"));
  EXPECT_TRUE(Reaches(&Stats::pairs, 0));
}

TEST_F(RelayTest, EndsBothSidesWhenOneIsGone) {
  ServeRelay();
  auto [one, other] = Pair(7);
  one.Close();
  EXPECT_TRUE(other.IsClosed());
  other.Send("to nobody");
  other.Close();
  EXPECT_TRUE(Reaches(&Stats::pairs, 0));
}

TEST_F(RelayTest, RefusesATokenInUseWithoutHarmToItsUsers) {
  ServeRelay();
  auto [one, other] = Pair(7);
  Dialler third = Show(7);
  EXPECT_EQ(third.Receive(2), kNoRoom);
  auto [next, to_next] = Pair(8);
  one.Send("on");
  EXPECT_EQ(other.Receive(2), FromText("on"));
  EXPECT_EQ(listener_->relay_stats().refused, 1u);
}

TEST_F(RelayTest, RefusesOneTooMany) {
  const Limits cases[] = {{100, 2, 1000, kLong, kLong, kLong},  // waiting
                          {1, 100, 1000, kLong, kLong, kLong},  // pairs
                          {100, 100, 4, kLong, kLong, kLong}};  // of an address
  for (const Limits& limits : cases) {
    ServeRelay(limits);
    {
      auto pair = Pair(1);
      Dialler two = Show(2), three = Show(3);
      EXPECT_TRUE(Reaches(&Stats::waiting, 2));
      Dialler refused = Show(limits.waiting == 2 ? 4 : 3);
      EXPECT_EQ(refused.Receive(2), kNoRoom);
    }
    EXPECT_TRUE(Reaches(&Stats::pairs, 0));
    EXPECT_TRUE(Reaches(&Stats::waiting, 0));
    Pair(5);  // there is room again
    EXPECT_TRUE(Reaches(&Stats::pairs, 0));
  }
}

TEST_F(RelayTest, RefusesNewConnectionsWhenDrainingAndFinishesCurrentOnes) {
  ServeRelay();
  auto [one, other] = Pair(7);
  Dialler waiting = Show(8);
  EXPECT_TRUE(Reaches(&Stats::waiting, 1));
  ServeRelay({0, 0, 1000, kLong, kLong, kLong});
  EXPECT_EQ(Show(8).Receive(2), kNoRoom);
  EXPECT_EQ(Show(9).Receive(2), kNoRoom);
  one.Send("on");
  EXPECT_EQ(other.Receive(2), FromText("on"));
}

TEST_F(RelayTest, ReportsThatNoPeerCame) {
  ServeRelay({100, 100, 1000, milliseconds(50), kLong, kLong});
  EXPECT_EQ(Show(7).Receive(2), kNobodyCame);
  EXPECT_TRUE(Reaches(&Stats::expired, 1));
  EXPECT_TRUE(Reaches(&Stats::waiting, 0));
}

TEST_F(RelayTest, CutsPairsThatAreIdleOrOld) {
  for (const Limits& limits : {Limits{100, 100, 1000, kLong, milliseconds(50), kLong},
                               Limits{100, 100, 1000, kLong, kLong, milliseconds(50)}}) {
    ServeRelay(limits);
    auto [one, other] = Pair(7);
    EXPECT_TRUE(one.IsClosed());
    EXPECT_TRUE(other.IsClosed());
  }
  EXPECT_TRUE(Reaches(&Stats::cut, 2));
}

TEST_F(RelayTest, ForgetsOneThatSpeaksOrLeavesBeforeTheOtherCame) {
  ServeRelay();
  Dialler speaks = Show(7), leaves = Show(8);
  EXPECT_TRUE(Reaches(&Stats::waiting, 2));
  speaks.Send("too early");
  EXPECT_TRUE(speaks.IsClosed());
  leaves.Close();
  EXPECT_TRUE(Reaches(&Stats::waiting, 0));
  Pair(7);
  Pair(8);
}

TEST_F(RelayTest, HoldsAWriterBackWhoseReaderIsSlowWithoutWorkOrHarmToOthers) {
  ServeRelay();
  auto [writer, reader] = Pair(7);
  const Bytes sent = RelayPattern(64'000'000);
  const size_t taken = writer.SendWhatFits(sent);  // until nothing has fitted for a while
  EXPECT_LT(taken, sent.size());
  const double before = CpuSeconds();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(CpuSeconds() - before, 0.15) << "the relay spins";
  auto [one, other] = Pair(8);
  one.Send("meanwhile");
  EXPECT_EQ(other.Receive(9), FromText("meanwhile"));

  std::thread rest(
      [&writer = writer, &sent, taken] { writer.Send(Bytes(sent.begin() + static_cast<int64_t>(taken), sent.end())); });
  EXPECT_TRUE(reader.Receive(sent.size()) == sent);
  rest.join();
}

TEST_F(RelayTest, KeepsThousandsWaiting) {
  constexpr size_t kMost = 2000;
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const rlimit before = descriptors;
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  ASSERT_GT(descriptors.rlim_cur, 2 * kMost + 100);
  ServeRelay({100, kMost, 2 * kMost, kLong, kLong, kLong});
  std::vector<Dialler> waiting;
  for (uint32_t i = 0; i < kMost; i++) waiting.push_back(Show(i));
  EXPECT_TRUE(Reaches(&Stats::waiting, kMost));
  EXPECT_EQ(Show(kMost).Receive(2), kNoRoom);
  Dialler partner = Show(1234);
  EXPECT_EQ(partner.Receive(1), kJoined);
  EXPECT_EQ(waiting[1234].Receive(1), kJoined);
  partner.Send("found");
  EXPECT_EQ(waiting[1234].Receive(5), FromText("found"));
  waiting.clear();
  EXPECT_TRUE(Reaches(&Stats::waiting, 0));
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(RelayTest, ClosesRelayRequestsToAListenerWithoutRelay) {
  Serve();
  Dialler dialler = Show(7);
  EXPECT_TRUE(dialler.IsClosed());
  ExpectServed();
}

TEST_F(RelayTest, ClosesEverythingWhenStopped) {
  ServeRelay();
  auto [one, other] = Pair(7);
  Dialler waiting = Show(8);
  EXPECT_TRUE(Reaches(&Stats::waiting, 1));
  listener_->Stop();
  EXPECT_TRUE(one.IsClosed());
  EXPECT_TRUE(other.IsClosed());
  EXPECT_TRUE(waiting.IsClosed());
}

TEST(NetworksOf, AreAnIpv4AddressAndItsPrefixOrThreePrefixesOfAnIpv6One) {
  EXPECT_EQ(NetworksOf("192.0.2.1").size(), 2u);
  EXPECT_EQ(NetworksOf("192.0.2.1")[1], NetworksOf("192.0.2.2")[1]);
  EXPECT_NE(NetworksOf("192.0.2.1")[0], NetworksOf("192.0.2.2")[0]);
  EXPECT_NE(NetworksOf("192.0.2.1")[1], NetworksOf("192.0.3.1")[1]);
  EXPECT_EQ(NetworksOf("2001:db8::1"), NetworksOf("2001:db8:0:0:ffff::2"));
  EXPECT_NE(NetworksOf("2001:db8::1")[0], NetworksOf("2001:db8:0:1::1")[0]);
  EXPECT_EQ(NetworksOf("2001:db8::1")[1], NetworksOf("2001:db8:0:ff::1")[1]);
  EXPECT_NE(NetworksOf("2001:db8::1")[1], NetworksOf("2001:db8:0:100::1")[1]);
  EXPECT_EQ(NetworksOf("2001:db8::1")[2], NetworksOf("2001:db8:0:100::1")[2]);
  EXPECT_EQ(NetworksOf("fe80::1%eth0"), NetworksOf("fe80::2"));
}

TEST(NetworkCount, GivesWiderNetworksAMultiple) {
  NetworkCount count;
  size_t admitted = 0;
  for (int block = 0; block < 16; block++) {
    for (int subnet = 0; subnet < 16; subnet++) {
      char address[64];
      std::snprintf(address, sizeof address, "2001:db8:0:%x::1", static_cast<unsigned>(block << 8 | subnet));
      const Networks networks = NetworksOf(address);
      while (count.HasRoom(networks, 340)) {
        count.Add(networks);
        admitted++;
      }
    }
  }
  EXPECT_EQ(admitted, 4u * 340);
  EXPECT_TRUE(count.HasRoom(NetworksOf("2001:db8:1::1"), 340));
}

}  // namespace
}  // namespace keibi::relay
