// SPDX-License-Identifier: MPL-2.0
#include "net/listener.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/poller.h"
#include "net/lane_registry.h"
#include "net/listen_socket.h"
#include "net/preamble.h"
#include "net/socket.h"
#include "relay/address_count.h"

namespace keibi::net {
namespace {

using core::Code;
using core::Fd;
using core::Status;
using Clock = PreambleReader::Clock;
using std::chrono::milliseconds;

constexpr uint64_t kSocketId = 0;         // connections are numbered from 1
constexpr int kAcceptsInARow = 32;        // before the known connections get a turn
constexpr milliseconds kAcceptPause{50};  // when the process has no descriptor left
// a connection keeps its place at least this long; covers a round trip of any path
constexpr milliseconds kFirstWordTime{250};
// How long after the hand-over of a control connection a lane may come before its session is expected. Covers the
// handshake's 10 s and a busy JavaScript thread.
constexpr milliseconds kHandshakeTime{30000};

bool MakeBlocking(int fd) { return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0; }

// An error of one connection that ended before accept(2) took it: the next connection may be fine.
bool ConcernsOneConnection(int error) {
  return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN || error == ENETUNREACH ||
         error == EHOSTUNREACH || error == EHOSTDOWN || error == EOPNOTSUPP || error == ENOPROTOOPT;
}

}  // namespace

// While it runs, the thread owns everything except `registry`, `wanted_joins`, `cancelled_joins`, `wanted_punches`,
// `hub`, the counts, `poller.Wake` and `stopping`.
struct Listener::Impl {
  Impl(const ListenerOptions& with, OnIncoming callback) : options(with), on_incoming(std::move(callback)) {}

  void Run() {
    std::vector<uint64_t> ready;
    while (!stopping.load()) {
      poller.Wait(MillisecondsToWait(), &ready);
      for (const uint64_t id : ready) {
        if (id == kSocketId) accept_at = Clock::time_point::min();
        if (const auto found = joins.find(id); found != joins.end()) Advance(found);
        AdvancePunch(id);
        if (const auto found = undecided.find(id); found != undecided.end()) Advance(found);
      }
      AdmitHeldLanes();
      CloseExpired();
      BeginJoins();
      BeginPunches();
      if (NextAccept() <= Clock::now()) Accept();
    }
  }

  // The oldest connection has the nearest deadline: ids and deadlines rise together.
  int MillisecondsToWait() const {
    auto until = std::min(NextAccept(), hole_puncher.next());
    if (!undecided.empty()) until = std::min(until, undecided.begin()->second.deadline);
    for (const auto& [id, join] : joins) until = std::min(until, join.deadline);
    if (until == Clock::time_point::max()) return -1;
    const auto now = Clock::now();
    return until <= now ? 0 : static_cast<int>(std::chrono::ceil<milliseconds>(until - now).count());
  }

  // Any thread, also after Stop.
  void Wake() {
    const std::scoped_lock lock(joins_mutex);
    if (takes_joins) poller.Wake();
  }

  // Until then the kernel keeps new connections in its backlog, so none is lost. Took() wakes the thread.
  Clock::time_point NextAccept() const {
    if (options.max_handed_over > 0 && handed_over.load() >= options.max_handed_over) return Clock::time_point::max();
    if (undecided.size() < options.max_undecided) return accept_at;
    const auto oldest_came = undecided.begin()->second.deadline - milliseconds(options.decision_ms);
    return std::max(accept_at, oldest_came + kFirstWordTime);
  }

  void AdmitHeldLanes() {
    if (!expects_more.exchange(false)) return;
    for (auto at = undecided.begin(); at != undecided.end();) {
      const auto connection = at++;
      if (connection->second.held) Advance(connection);
    }
  }

  void CloseExpired() {
    const auto now = Clock::now();
    while (!undecided.empty() && undecided.begin()->second.deadline <= now) {
      slow++;
      Forget(undecided.begin());
    }
    for (auto at = joins.begin(); at != joins.end();) {
      const auto join = at++;
      if (join->second.deadline <= now) Settle(join, Status::Of(Code::kHandshakeTimeout));
    }
  }

  void BeginJoins() {
    std::vector<RelayJoin> wanted;
    std::vector<uint64_t> cancelled;
    {
      const std::scoped_lock lock(joins_mutex);
      wanted.swap(wanted_joins);
      cancelled.swap(cancelled_joins);
    }
    for (RelayJoin& join : wanted) {
      const Status status = join.Dial();
      const uint64_t id = next_id++;
      if (!status.ok()) {
        join.Settle(status);
      } else if (!poller.AddForWriting(join.fd.get(), id)) {
        join.Settle(Status::FromErrno(Code::kPeerUnreachable));
      } else {
        joins.try_emplace(id, std::move(join));
      }
    }
    for (const uint64_t number : cancelled) CancelBegun(number);
  }

  void CancelBegun(uint64_t number) {
    const auto at = std::find_if(joins.begin(), joins.end(),
                                 [number](const auto& join) { return join.second.place.number == number; });
    if (at != joins.end()) Settle(at, Status::Of(Code::kCancelled));
  }

  void BeginPunches() {
    std::vector<PunchPlace> wanted;
    {
      const std::scoped_lock lock(joins_mutex);
      wanted.swap(wanted_punches);
    }
    hole_puncher.Retry();
    for (PunchPlace& place : wanted) hole_puncher.Begin(std::move(place), port, next_id++);
  }

  void AdvancePunch(uint64_t id) {
    PunchPlace place;
    Fd fd = hole_puncher.Advance(id, &place);
    if (fd.valid()) Begin(std::move(fd), {std::move(place.host), place.port, false, {}});
  }

  void Advance(std::map<uint64_t, RelayJoin>::iterator at) {
    Status status;
    const RelayJoin::State state = at->second.Advance(&status);
    if (state != RelayJoin::State::kWaiting) Settle(at, status);
  }

  void Settle(std::map<uint64_t, RelayJoin>::iterator at, Status status) {
    RelayJoin join = std::move(joins.extract(at).mapped());
    poller.Remove(join.fd.get());
    join.Settle(status);
    if (status.ok()) Begin(std::move(join.fd), {join.place.host, join.place.port, true, {}});
  }

  // The socket is edge-triggered, so accept_at stays in the past until accept reports that none is left.
  void Accept() {
    for (int i = 0; i < kAcceptsInARow && NextAccept() <= Clock::now(); i++) {
      std::string address;
      uint16_t port = 0;
      Fd fd = AcceptConnection(socket.get(), &address, &port);
      if (fd.valid()) {
        Begin(std::move(fd), {std::move(address), port, false, {}});
      } else if (!ConcernsOneConnection(errno)) {
        const bool drained = errno == EAGAIN || errno == EWOULDBLOCK;
        accept_at = drained ? Clock::time_point::max() : Clock::now() + kAcceptPause;
        return;
      }
    }
  }

  void Begin(Fd fd, PreambleReader::From from) {
    from.networks = relay::NetworksOf(from.address);
    if (options.max_undecided_of_network > 0) MakeRoomFor(from.networks);
    if (undecided.size() >= options.max_undecided) {
      crowded_out++;
      Forget(undecided.begin());
    }
    const uint64_t id = next_id++;
    if (!poller.Add(fd.get(), id)) {
      crowded_out++;  // the system cannot watch another descriptor
      return;
    }
    const auto deadline = Clock::now() + milliseconds(options.decision_ms);
    networks.Add(from.networks);
    const auto added = undecided.try_emplace(id, std::move(fd), std::move(from), deadline, options.http);
    Advance(added.first);
  }

  void MakeRoomFor(const relay::Networks& of) {
    CloseOldestOf(networks.FullOf(of, options.max_undecided_of_network), [](const PreambleReader&) { return true; });
  }

  // If a network is full, closes that network's oldest connection among those that `counts` selects.
  template <typename Counts>
  void CloseOldestOf(const relay::Network* full, Counts counts) {
    if (full == nullptr) return;
    const auto oldest = std::find_if(undecided.begin(), undecided.end(), [full, counts](const auto& each) {
      const relay::Networks& its = each.second.from.networks;
      return counts(each.second) && std::find(its.begin(), its.end(), *full) != its.end();
    });
    crowded_out++;
    Forget(oldest);
  }

  std::map<uint64_t, PreambleReader>::node_type Forget(std::map<uint64_t, PreambleReader>::iterator at) {
    networks.Remove(at->second.from.networks);
    if (at->second.held) held_networks.Remove(at->second.from.networks);
    return undecided.extract(at);
  }

  // A lane dialled right after the handshake often comes before its session is expected. It keeps its deadline.
  bool HoldsEarlyLane(PreambleReader* connection) {
    if (Clock::now() >= early_lanes_until || !registry.IsEarly(*connection->hello())) return false;
    if (connection->held) return true;
    const relay::Network* const full = held_networks.FullOf(connection->from.networks, kMaxHeldLanes);
    CloseOldestOf(full, [](const PreambleReader& other) { return other.held; });
    held_networks.Add(connection->from.networks);
    connection->held = true;
    return true;
  }

  void Advance(std::map<uint64_t, PreambleReader>::iterator at) {
    const PreambleReader::Kind kind = at->second.Advance();
    if (kind == PreambleReader::Kind::kUnknown) return;
    if (kind == PreambleReader::Kind::kLane && HoldsEarlyLane(&at->second)) return;
    auto node = Forget(at);
    PreambleReader& connection = node.mapped();
    poller.Remove(connection.fd.get());
    switch (kind) {
      case PreambleReader::Kind::kLane:
        return HandOverLane(&connection);
      case PreambleReader::Kind::kRendezvous:
        return HandOver(&connection, Incoming::Kind::kRendezvous);
      case PreambleReader::Kind::kControl:
        return HandOver(&connection, Incoming::Kind::kControl);
      case PreambleReader::Kind::kHttp:
        return HandOver(&connection, Incoming::Kind::kHttp);
      case PreambleReader::Kind::kTls:
        return HandOver(&connection, Incoming::Kind::kTls);
      case PreambleReader::Kind::kRelay:
        return HandOverToRelay(&connection);
      case PreambleReader::Kind::kRefused:
      case PreambleReader::Kind::kUnknown:
        malformed++;
    }
  }

  void HandOver(PreambleReader* connection, Incoming::Kind kind) {
    const PreambleReader::From& from = connection->from;
    if (kind == Incoming::Kind::kControl) early_lanes_until = Clock::now() + kHandshakeTime;
    handed_over++;
    on_incoming({kind, std::move(connection->fd), from.address, from.port, from.relayed});
  }

  void HandOverToRelay(PreambleReader* connection) {
    const std::scoped_lock lock(hub_mutex);
    if (hub == nullptr) {
      malformed++;
      return;
    }
    TuneLane(connection->fd.get());
    hub->Take(std::move(connection->fd), connection->token(), connection->from.address);
  }

  void HandOverLane(PreambleReader* connection) {
    auto admitted = registry.Admit(connection->hello());
    if (!admitted || !MakeBlocking(connection->fd.get())) {
      malformed++;
      return;
    }
    admitted->acceptor->OnLane(connection->fd.release(), admitted->lane, std::move(admitted->sealer),
                               std::move(admitted->opener));
  }

  const ListenerOptions options;
  const OnIncoming on_incoming;
  LaneRegistry registry;
  core::Poller poller;
  Fd socket;
  uint16_t port = 0;
  std::atomic<bool> stopping = false;
  std::thread thread;

  std::mutex joins_mutex;
  std::vector<RelayJoin> wanted_joins;
  std::vector<PunchPlace> wanted_punches;
  std::vector<uint64_t> cancelled_joins;
  bool takes_joins = true;

  mutable std::mutex hub_mutex;
  std::unique_ptr<relay::Hub> hub;  // once ServeRelay was called
  std::atomic<uint64_t> malformed = 0, slow = 0, crowded_out = 0;
  std::atomic<size_t> handed_over = 0;     // connections not yet taken by Took()
  std::atomic<bool> expects_more = false;  // since the held lanes were last checked

  std::map<uint64_t, PreambleReader> undecided;  // in order of arrival
  relay::NetworkCount networks;                  // of undecided
  relay::NetworkCount held_networks;             // of the held lanes among them
  std::map<uint64_t, RelayJoin> joins;
  HolePuncher hole_puncher{&poller};
  uint64_t next_id = 1;
  Clock::time_point early_lanes_until = Clock::time_point::min();
  Clock::time_point accept_at = Clock::time_point::max();  // when to accept without a poller event
};

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Listener::~Listener() { Stop(); }

Status Listener::Open(const ListenerOptions& options, OnIncoming on_incoming, std::shared_ptr<Listener>* listener) {
  auto impl = std::make_unique<Impl>(options, std::move(on_incoming));
  impl->port = options.port;
  if (Status status = impl->poller.Open(); !status.ok()) return status;
  if (Status status = OpenListenSocket(options.host, &impl->port, &impl->socket); !status.ok()) return status;
  if (!impl->poller.Add(impl->socket.get(), kSocketId)) return Status::FromErrno(Code::kInternal);
  try {
    impl->thread = std::thread(&Impl::Run, impl.get());
  } catch (const std::system_error& error) {
    return Status::Of(Code::kInternal, error.code().value());
  }
  listener->reset(new Listener(std::move(impl)));
  return Status::Ok();
}

uint16_t Listener::port() const { return impl_->port; }

void Listener::Expect(ExpectedLanes lanes, std::shared_ptr<LaneAcceptor> acceptor) {
  impl_->registry.Expect(std::move(lanes), std::move(acceptor));
  impl_->expects_more.store(true);
  impl_->Wake();
}

void Listener::Took() {
  if (impl_->handed_over.fetch_sub(1) == impl_->options.max_handed_over) impl_->Wake();
}

void Listener::Forget(const SessionId& session_id) { impl_->registry.Forget(session_id); }

void Listener::JoinRelay(RelayPlace place, OnJoined on_joined) {
  RelayJoin join(std::move(place), std::move(on_joined));
  {
    const std::scoped_lock lock(impl_->joins_mutex);
    if (impl_->takes_joins) {
      impl_->wanted_joins.push_back(std::move(join));
      impl_->poller.Wake();
      return;
    }
  }
  join.Settle(Status::Of(Code::kCancelled));
}

void Listener::CancelJoin(uint64_t number) {
  const std::scoped_lock lock(impl_->joins_mutex);
  if (!impl_->takes_joins) return;
  impl_->cancelled_joins.push_back(number);
  impl_->poller.Wake();
}

void Listener::Punch(PunchPlace place) {
  const std::scoped_lock lock(impl_->joins_mutex);
  if (!impl_->takes_joins) return;
  impl_->wanted_punches.push_back(std::move(place));
  impl_->poller.Wake();
}

Status Listener::ServeRelay(const relay::Limits& limits) {
  const std::scoped_lock lock(impl_->hub_mutex);
  if (impl_->hub == nullptr) {
    if (const Status status = relay::Hub::Open(&impl_->hub); !status.ok()) return status;
  }
  impl_->hub->SetLimits(limits);
  return Status::Ok();
}

relay::Stats Listener::relay_stats() const {
  const std::scoped_lock lock(impl_->hub_mutex);
  return impl_->hub == nullptr ? relay::Stats{} : impl_->hub->stats();
}

DropCounts Listener::drops() const { return {impl_->malformed, impl_->slow, impl_->crowded_out}; }

void Listener::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->stopping.store(true);
  impl_->poller.Wake();
  impl_->thread.join();
  {
    const std::scoped_lock lock(impl_->joins_mutex);
    impl_->takes_joins = false;
  }
  for (RelayJoin& join : impl_->wanted_joins) join.Settle(Status::Of(Code::kCancelled));
  for (auto& [id, join] : impl_->joins) join.Settle(Status::Of(Code::kCancelled));
  impl_->wanted_joins.clear();
  impl_->joins.clear();
  impl_->hole_puncher.Clear();
  impl_->undecided.clear();
  if (impl_->hub != nullptr) impl_->hub->Stop();
  impl_->socket.Close();
  impl_->poller = {};
  impl_->registry.Close();
}

}  // namespace keibi::net
