// SPDX-License-Identifier: MPL-2.0
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>

#include "net/socket.h"
#include "served.h"

namespace keibi::net {
namespace {

using core::Code;
using core::Fd;
using core::Status;
using std::chrono::milliseconds;

constexpr milliseconds kPunchPatience{5000};

uint16_t PortOf(const Fd& fd) {
  sockaddr_in own{};
  socklen_t bytes = sizeof own;
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &bytes);
  return ntohs(own.sin_port);
}

bool Say(const Fd& fd, const std::string& text) {
  return send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// listener_ is the sender's.
class HolePuncherTest : public test::ServedTest {
 protected:
  void Punch(uint16_t port, milliseconds wait = kPunchPatience) { listener_->Punch({"127.0.0.1", port, wait}); }

  // A port in no other use; other sockets that this process binds share it.
  static Fd Reserve(uint16_t* port) {
    Fd fd;
    EXPECT_EQ(BeginDial("127.0.0.1", 1, &fd, 0).code, Code::kOk);
    *port = PortOf(fd);
    return fd;
  }

  const std::atomic<bool> running_ = false;
};

TEST_F(HolePuncherTest, MakesOneConnectionOfTwoThatAreDialledAtOnce) {
  Serve();
  uint16_t port = 0;
  const Fd reserved = Reserve(&port);
  Fd fd;
  Punch(port);
  const Status status = DialThrough(port, "127.0.0.1", listener_->port(), kPunchPatience, running_, &fd);
  ASSERT_EQ(status.code, Code::kOk) << status.system_error;
  EXPECT_EQ(PortOf(fd), port);
  EXPECT_TRUE(Say(fd, "KEIBI-C1"));
  const auto incoming = inbox_.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->address, "127.0.0.1");
  EXPECT_EQ(incoming->port, port);
  EXPECT_FALSE(incoming->relayed);
}

TEST_F(HolePuncherTest, RetriesWhileTheOtherSideRefuses) {
  Serve();
  uint16_t port = 0;
  const Fd reserved = Reserve(&port);
  Punch(port);
  ExpectServed();  // its first try has been refused
  // The receiver of this test does not dial: the sender reaches it, from the port on which the sender listens.
  Fd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(server.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(port);
  ASSERT_EQ(bind(server.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  ASSERT_EQ(listen(server.get(), 1), 0);
  sockaddr_in from{};
  socklen_t bytes = sizeof from;
  const Fd accepted(accept(server.get(), reinterpret_cast<sockaddr*>(&from), &bytes));
  ASSERT_TRUE(accepted.valid());
  EXPECT_EQ(ntohs(from.sin_port), listener_->port());
  EXPECT_TRUE(Say(accepted, "KEIBI-C1"));
  EXPECT_TRUE(inbox_.Take().has_value());
}

TEST_F(HolePuncherTest, TakesALaneThatCameSo) {
  Serve();
  const auto lanes = Expect();
  uint16_t port = 0;
  const Fd reserved = Reserve(&port);
  Punch(port);
  Fd fd;
  ASSERT_TRUE(DialThrough(port, "127.0.0.1", listener_->port(), kPunchPatience, running_, &fd).ok());
  const test::Bytes hello = RightHello(2);
  EXPECT_TRUE(Say(fd, std::string(hello.begin(), hello.end())));
  const auto lane = lanes->inbox.Take();
  ASSERT_TRUE(lane.has_value());
  EXPECT_EQ(lane->number, 2u);
}

TEST_F(HolePuncherTest, DialsFromThePortOfAListenerToOthers) {
  Serve();
  std::shared_ptr<Listener> server;
  test::Inbox<Incoming> seen;
  ASSERT_TRUE(Listener::Open(
                  {.host = "127.0.0.1"}, [&](Incoming in) { seen.Put(std::move(in)); }, &server)
                  .ok());
  Fd fd;
  ASSERT_TRUE(net::Dial("127.0.0.1", server->port(), kPunchPatience, running_, &fd, listener_->port()).ok());
  EXPECT_TRUE(Say(fd, "KEIBI-C1"));
  const auto incoming = seen.Take();
  ASSERT_TRUE(incoming.has_value());
  EXPECT_EQ(incoming->port, listener_->port());
  ExpectServed();  // as before

  Fd again;
  const Status taken = net::Dial("127.0.0.1", server->port(), kPunchPatience, running_, &again, listener_->port());
  EXPECT_EQ(taken.system_error, EADDRNOTAVAIL);  // two ports can have only one connection
}

TEST_F(HolePuncherTest, LetsNoSecondListenerTakeThePort) {
  Serve();
  std::shared_ptr<Listener> second;
  const Status status = Listener::Open(
      {.host = "127.0.0.1", .port = listener_->port()}, [](Incoming) {}, &second);
  EXPECT_EQ(status.system_error, EADDRINUSE);
}

TEST_F(HolePuncherTest, DialsOnceOrUntilItsTimeIsOver) {
  // Not Reserve: another test's listener could get a port that sockets may share.
  const Fd reserved(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(reserved.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  const uint16_t port = PortOf(reserved);
  Fd fd;
  EXPECT_EQ(net::Dial("127.0.0.1", port, kPunchPatience, running_, &fd, 0).system_error, ECONNREFUSED);
  EXPECT_EQ(DialThrough(0, "127.0.0.1", port, milliseconds(250), running_, &fd).code, Code::kPeerUnreachable);
  EXPECT_EQ(DialThrough(0, "127.0.0.1", port, kPunchPatience, true, &fd).code, Code::kCancelled);
  EXPECT_EQ(DialThrough(0, "no address", port, kPunchPatience, running_, &fd).system_error, EINVAL);
}

TEST_F(HolePuncherTest, IsForgottenWithTheListener) {
  Serve();
  uint16_t port = 0;
  const Fd reserved = Reserve(&port);
  for (int i = 0; i < 100; i++) Punch(port);
  ExpectServed();
  listener_->Stop();
  Punch(port);
}

}  // namespace
}  // namespace keibi::net
