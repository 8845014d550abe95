// SPDX-License-Identifier: MPL-2.0
#include "net/listener.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "served.h"

namespace keibi::net {
namespace {

using test::Bytes;
using test::Dialler;
using test::FromText;
using Kind = Incoming::Kind;

class ListenerTest : public test::ServedTest {
 protected:
  static Bytes ReadFrom(const core::Fd& fd, size_t bytes) {
    Bytes received(bytes);
    const ssize_t count = recv(fd.get(), received.data(), bytes, 0);
    received.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return received;
  }
};

size_t OpenDescriptors() {
  size_t count = 0;
  DIR* const listing = opendir("/proc/self/fd");
  while (readdir(listing) != nullptr) count++;
  closedir(listing);
  return count;
}

TEST_F(ListenerTest, HandsOverAControlConnectionBehindItsPreamble) {
  Serve();
  Dialler dialler = Dial();
  dialler.Send("KEIBI-C1and more");
  const auto incoming = inbox_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->kind, Kind::kControl);
  EXPECT_EQ(incoming->address, "127.0.0.1");
  EXPECT_NE(incoming->port, 0);
  EXPECT_EQ(ReadFrom(incoming->fd, 100), FromText("and more"));
}

TEST_F(ListenerTest, HandsOverARendezvousConnectionUnread) {
  Serve();
  Dialler dialler = Dial();
  dialler.Send("PRI * HTTP/2.0\r\n");
  const auto incoming = inbox_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->kind, Kind::kRendezvous);
  EXPECT_EQ(ReadFrom(incoming->fd, 100), FromText("PRI * HTTP/2.0\r\n"));
}

TEST_F(ListenerTest, PutsAPreambleTogetherFromSingleBytes) {
  Serve();
  Dialler dialler = Dial();
  for (const char byte : std::string("KEIBI-C")) {
    dialler.Send(std::string(1, byte));
    ExpectServed();  // the listener has examined the byte
  }
  dialler.Send("1");
  const auto incoming = inbox_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->kind, Kind::kControl);
}

TEST_F(ListenerTest, ClosesConnectionsOfUnknownKindsAndKeepsListening) {
  Serve();
  for (const char* start : {"GET / HTTP/1.1\r\n", "KEIBI-C2", "KEIBI-X", "\x16\x03\x01", "PRI * HX", "k"}) {
    Dialler dialler = Dial();
    dialler.Send(start);
    EXPECT_TRUE(dialler.IsClosed()) << start;
  }
  ExpectServed();
  EXPECT_EQ(inbox_.size(), 0u);
}

TEST_F(ListenerTest, HandsOverHttpUnreadWhereItWasAskedTo) {
  Serve({.host = "", .http = true});
  for (const char* start : {"GET /metrics HTTP/1.1\r\n", "HEAD /healthz HTTP/1.0\r\n", "GET "}) {
    Dialler dialler = Dial();
    dialler.Send(start);
    const auto incoming = inbox_.Take();
    ASSERT_TRUE(incoming.has_value()) << start;
    EXPECT_EQ(incoming->kind, Kind::kHttp);
    EXPECT_EQ(ReadFrom(incoming->fd, 100), FromText(start));
  }
  Dialler post = Dial();
  post.Send("POST /metrics");
  EXPECT_TRUE(post.IsClosed());
}

TEST_F(ListenerTest, CountsWhatItClosedUndecided) {
  Serve({.host = "", .decision_ms = 600, .max_undecided = 1});
  Dialler garbage = Dial();
  garbage.Send("garbage!");
  EXPECT_TRUE(garbage.IsClosed());
  Dialler crowded_out = Dial(), silent = Dial();
  EXPECT_TRUE(crowded_out.IsClosed());
  EXPECT_TRUE(silent.IsClosed());
  const DropCounts drops = listener_->drops();
  EXPECT_EQ(drops.malformed, 1u);
  EXPECT_EQ(drops.crowded_out, 1u);
  EXPECT_EQ(drops.slow, 1u);
}

TEST_F(ListenerTest, ClosesAConnectionThatIsUndecidedAtItsDeadline) {
  Serve({.host = "", .port = 0, .decision_ms = 50, .max_undecided = 256});
  Expect();
  const Bytes hello = RightHello(0);
  const Bytes starts[] = {{}, FromText("KEIBI-"), Bytes(hello.begin(), hello.end() - 1)};
  for (const Bytes& start : starts) {
    Dialler dialler = Dial();
    if (!start.empty()) dialler.Send(start);
    EXPECT_TRUE(dialler.IsClosed()) << start.size();
  }
  ExpectServed();
}

TEST_F(ListenerTest, ClosesTheOldestUndecidedConnectionForOneTooMany) {
  Serve({.host = "", .port = 0, .decision_ms = 600000, .max_undecided = 3});
  std::vector<Dialler> silent;
  for (int i = 0; i < 4; i++) silent.push_back(Dial());
  EXPECT_TRUE(silent[0].IsClosed());
  ExpectServed();  // closes silent[1]
  EXPECT_TRUE(silent[1].IsClosed());
  silent[3].Send("KEIBI-C1");
  EXPECT_TRUE(inbox_.Take().has_value());
}

TEST_F(ListenerTest, ClosesTheOldestUndecidedConnectionOfANetworkThatHasTooMany) {
  Serve({.host = "", .port = 0, .decision_ms = 600000, .max_undecided = 100, .max_undecided_of_network = 2});
  core::Fd socket = Dialler::Socket("127.0.0.1");
  const sockaddr_in elsewhere = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(0x7f000002)}, .sin_zero = {}};
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&elsewhere), sizeof elsewhere), 0);
  Dialler other(std::move(socket), "127.0.0.1", listener_->port());
  std::vector<Dialler> silent;
  for (int i = 0; i < 3; i++) silent.push_back(Dial());
  EXPECT_TRUE(silent[0].IsClosed());
  EXPECT_EQ(listener_->drops().crowded_out, 1u);
  for (Dialler* spared : {&silent[1], &silent[2], &other}) {
    spared->Send("KEIBI-C1");
    EXPECT_TRUE(inbox_.Take().has_value());
  }
}

TEST_F(ListenerTest, ServesManyDiallersAtOnce) {
  Serve();
  const auto dial = [this] {
    for (int i = 0; i < 50; i++) {
      Dialler dialler = Dial();
      EXPECT_TRUE(dialler.Send(i % 2 == 0 ? "KEIBI-C1" : "PRI * HT"));
      EXPECT_TRUE(inbox_.Take().has_value());
    }
  };
  std::vector<std::thread> diallers;
  for (int i = 0; i < 4; i++) diallers.emplace_back(dial);
  for (std::thread& thread : diallers) thread.join();
}

TEST_F(ListenerTest, LeavesConnectionsInTheBacklogUntilOthersAreTaken) {
  constexpr size_t kRoom = 4, kAll = 40;
  Serve({.host = "", .max_handed_over = kRoom});
  std::vector<Dialler> diallers;
  for (size_t i = 0; i < kAll; i++) {
    diallers.push_back(Dial());
    EXPECT_TRUE(diallers.back().Send("KEIBI-C1"));
  }
  for (size_t i = 0; i < kAll; i++) {
    const auto incoming = inbox_.Take();
    ASSERT_TRUE(incoming.has_value()) << i;
    EXPECT_LT(inbox_.size(), kRoom) << i;
    listener_->Took();
  }
  const DropCounts drops = listener_->drops();
  EXPECT_EQ(drops.malformed + drops.slow + drops.crowded_out, 0u);
}

TEST_F(ListenerTest, CountsARelayTokenWithoutARelay) {
  Serve();
  Dialler dialler = Dial();
  dialler.Send("KEIBI-R1" + std::string(32, 't'));
  EXPECT_TRUE(dialler.IsClosed());
  EXPECT_EQ(listener_->drops().malformed, 1u);
}

TEST_F(ListenerTest, ServesAgainOnceDescriptorsAreFree) {
  Serve();
  core::Fd socket = Dialler::Socket("127.0.0.1");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(socket.get()) + 1;  // a socket gets the lowest free number
  setrlimit(RLIMIT_NOFILE, &none);
  Dialler dialler(std::move(socket), "127.0.0.1", listener_->port());
  EXPECT_TRUE(dialler.connected());
  dialler.Send("KEIBI-C1");
  EXPECT_FALSE(inbox_.Take(std::chrono::milliseconds(100)).has_value());
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(inbox_.Take().has_value());
}

TEST_F(ListenerTest, ListensOnIpv6AndShowsMappedAddressesAsIpv4) {
  Serve({.host = "::"});
  Dialler ipv4 = Dial();
  ipv4.Send("KEIBI-C1");
  auto incoming = inbox_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->address, "127.0.0.1");
  Dialler ipv6("::1", listener_->port());
  ipv6.Send("KEIBI-C1");
  incoming = inbox_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->address, "::1");
}

TEST_F(ListenerTest, SaysWhyItCannotListen) {
  Serve();
  struct Case {
    const char* host;
    uint16_t port;
    int system_error;
  };
  const Case cases[] = {
      {"127.0.0.1", listener_->port(), EADDRINUSE}, {"192.0.2.1", 0, EADDRNOTAVAIL}, {"not an address", 0, EINVAL}};
  for (const Case& row : cases) {
    std::shared_ptr<Listener> refused;
    const auto status = Listener::Open(
        {.host = row.host, .port = row.port}, [](Incoming) {}, &refused);
    EXPECT_EQ(status.code, core::Code::kInternal) << row.host;
    EXPECT_EQ(status.system_error, row.system_error) << row.host;
    EXPECT_EQ(refused, nullptr);
  }
}

TEST_F(ListenerTest, ClosesEverythingItHoldsWhenStopped) {
  const size_t before = OpenDescriptors();
  Serve();
  Dialler silent = Dial(), half = Dial();
  half.Send("KEIBI-L1 and");
  ExpectServed();  // accepted after both, so the listener holds them
  const uint16_t port = listener_->port();
  listener_->Stop();
  listener_->Stop();
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(half.IsClosed());
  EXPECT_FALSE(Dialler("127.0.0.1", port).connected());
  silent.Close();
  half.Close();
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(ListenerTest, LetsGoOfAcceptorsWhenStopped) {
  Serve();
  const std::weak_ptr<test::Lanes> lanes = Expect();
  EXPECT_FALSE(lanes.expired());
  listener_->Stop();
  EXPECT_TRUE(lanes.expired());
  const std::weak_ptr<test::Lanes> late = Expect();
  EXPECT_TRUE(late.expired());
}

}  // namespace
}  // namespace keibi::net
