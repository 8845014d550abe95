// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/fd.h"
#include "core/status.h"
#include "net/hole_puncher.h"
#include "net/lane_acceptor.h"
#include "net/relay_join.h"
#include "relay/hub.h"

namespace keibi::net {

// A connection handed over to JavaScript (PROTOCOL 2.1). The fd is non-blocking.
struct Incoming {
  enum class Kind : uint8_t { kRendezvous, kControl, kHttp, kTls };
  Kind kind = Kind::kControl;
  core::Fd fd;          // kControl: the 8 bytes of the preamble were read from it; otherwise nothing was read
  std::string address;  // of the other side, numeric; an IPv4 address inside an IPv6 one is shown as IPv4
  uint16_t port = 0;
  bool relayed = false;  // it came through JoinRelay; address and port are the relay's
};

struct ListenerOptions {
  std::string host;            // numeric IPv4 or IPv6 address
  uint16_t port = 0;           // 0: the system chooses
  int decision_ms = 10000;     // from accept to a known kind and, for a lane, a valid hello (PROTOCOL 2.1)
  size_t max_undecided = 256;  // one more closes the oldest, which has had 250 ms: an honest peer sends at once
  // Undecided connections of one IPv4 address or IPv6 /64; wider networks get a multiple (relay::NetworksOf). One more
  // closes that network's oldest. 0: no limit per network.
  size_t max_undecided_of_network = 0;
  // Handed over, but not yet taken by Took(). At this many the listener stops accepting and leaves the rest in the
  // backlog. 0: no limit.
  size_t max_handed_over = 0;
  bool http = false;  // hand over connections that begin like HTTP/1 GET or HEAD, or like TLS
};

// Total connections closed before their kind was known.
struct DropCounts {
  uint64_t malformed = 0;  // unknown preamble, a service this port does not offer, a wrong lane hello, a hangup
  uint64_t slow = 0;       // undecided at the deadline, or a lane whose session was not expected by then
  uint64_t crowded_out = 0;
};

// Accepts every kind of connection on one port, on its own thread. Closes unknown connections without an answer.
class Listener {
 public:
  // Called on the listener's thread; must not wait for the thread that stops the listener.
  using OnIncoming = std::function<void(Incoming)>;

  // Errors: kInternal with EADDRINUSE, EACCES, EADDRNOTAVAIL, EINVAL (host is not an address) and the like.
  static core::Status Open(const ListenerOptions& options, OnIncoming on_incoming, std::shared_ptr<Listener>* listener);
  ~Listener();  // stops
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const;

  // Any thread. The caller has taken one connection from on_incoming, so there is room for another.
  void Took();

  // Any thread. Accepts lanes of this session until Forget; replaces an expectation of the same session. A lane that
  // came before this call is held until its deadline, at most kMaxHeldLanes of one network.
  void Expect(ExpectedLanes lanes, std::shared_ptr<LaneAcceptor> acceptor);
  void Forget(const SessionId& session_id);

  // Any thread. Joins a relay; then treats the connection like an accepted one.
  void JoinRelay(RelayPlace place, OnJoined on_joined);
  // Any thread. Cancels a pending join by its RelayPlace::number: its connection closes, and it ends with kCancelled.
  void CancelJoin(uint64_t number);

  // Any thread. Dials a peer from this listener's port, while the peer dials us, until there is a connection or the
  // place's time is over. Then treats the connection like an accepted one.
  void Punch(PunchPlace place);

  // Any thread. From now on joins strangers' connections with one another (PROTOCOL 2.3), within `limits`; a later call
  // replaces the limits. Before the first call such connections are closed.
  core::Status ServeRelay(const relay::Limits& limits);
  relay::Stats relay_stats() const;  // any thread

  DropCounts drops() const;  // any thread

  // Ends the thread and closes every fd still held; no callback runs afterwards. Idempotent; not from a callback.
  void Stop();

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace keibi::net
