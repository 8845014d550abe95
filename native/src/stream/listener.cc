// SPDX-License-Identifier: MPL-2.0
#include "stream/listener.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/poller.h"
#include "stream/lane_registry.h"
#include "stream/listen_socket.h"
#include "stream/undecided.h"

namespace keibi::stream {
namespace {

using core::Code;
using core::Fd;
using core::Status;
using Clock = Undecided::Clock;
using std::chrono::milliseconds;

constexpr uint64_t kSocketId = 0;         // connections are numbered from 1
constexpr int kAcceptsInARow = 32;        // between two looks at the connections already there
constexpr milliseconds kAcceptPause{50};  // when the process has no descriptor left

bool MakeBlocking(int fd) { return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0; }

// Of the connection itself, gone before it was accepted (accept(2)): the next one may be fine.
bool ConcernsOneConnection(int error) {
  return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN || error == ENETUNREACH ||
         error == EHOSTUNREACH || error == EHOSTDOWN || error == EOPNOTSUPP || error == ENOPROTOOPT;
}

}  // namespace

// All but `registry`, `poller.Wake` and `stopping` is the thread's own while it runs.
struct Listener::Impl {
  Impl(const ListenerOptions& with, OnIncoming callback) : options(with), on_incoming(std::move(callback)) {}

  void Run() {
    std::vector<uint64_t> ready;
    while (!stopping.load()) {
      poller.Wait(MillisecondsToWait(), &ready);
      for (const uint64_t id : ready) {
        if (id == kSocketId) accept_at = Clock::time_point::min();
        if (const auto found = undecided.find(id); found != undecided.end()) Advance(found);
      }
      CloseExpired();
      if (accept_at <= Clock::now()) Accept();
    }
  }

  // The oldest connection has the nearest deadline: ids and deadlines rise together.
  int MillisecondsToWait() const {
    auto until = accept_at;
    if (!undecided.empty()) until = std::min(until, undecided.begin()->second.deadline);
    if (until == Clock::time_point::max()) return -1;
    const auto now = Clock::now();
    return until <= now ? 0 : static_cast<int>(std::chrono::ceil<milliseconds>(until - now).count());
  }

  void CloseExpired() {
    const auto now = Clock::now();
    while (!undecided.empty() && undecided.begin()->second.deadline <= now) undecided.erase(undecided.begin());
  }

  // The socket is edge-triggered, so accept_at stays in the past until accept has said that nothing is left.
  void Accept() {
    for (int i = 0; i < kAcceptsInARow; i++) {
      std::string address;
      uint16_t port = 0;
      Fd fd = AcceptConnection(socket.get(), &address, &port);
      if (fd.valid()) {
        Begin(std::move(fd), std::move(address), port);
      } else if (!ConcernsOneConnection(errno)) {
        const bool drained = errno == EAGAIN || errno == EWOULDBLOCK;
        accept_at = drained ? Clock::time_point::max() : Clock::now() + kAcceptPause;
        return;
      }
    }
  }

  void Begin(Fd fd, std::string address, uint16_t port) {
    if (undecided.size() >= options.max_undecided) undecided.erase(undecided.begin());
    const uint64_t id = next_id++;
    if (!poller.Add(fd.get(), id)) return;
    const auto deadline = Clock::now() + milliseconds(options.decision_ms);
    const auto added = undecided.try_emplace(id, std::move(fd), std::move(address), port, deadline);
    Advance(added.first);
  }

  void Advance(std::map<uint64_t, Undecided>::iterator at) {
    const Undecided::Kind kind = at->second.Advance();
    if (kind == Undecided::Kind::kUnknown) return;
    auto node = undecided.extract(at);
    Undecided& connection = node.mapped();
    poller.Remove(connection.fd.get());
    if (kind == Undecided::Kind::kLane) return HandOverLane(&connection);
    if (kind == Undecided::Kind::kRefused) return;
    const bool control = kind == Undecided::Kind::kControl;
    on_incoming({control ? Incoming::Kind::kControl : Incoming::Kind::kRendezvous, std::move(connection.fd),
                 connection.address, connection.port});
  }

  void HandOverLane(Undecided* connection) {
    auto admitted = registry.Admit(connection->hello());
    if (!admitted || !MakeBlocking(connection->fd.get())) return;
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

  std::map<uint64_t, Undecided> undecided;  // by the order of their arrival
  uint64_t next_id = 1;
  Clock::time_point accept_at = Clock::time_point::max();  // when to accept without being told
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
}

void Listener::Forget(const SessionId& session_id) { impl_->registry.Forget(session_id); }

void Listener::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->stopping.store(true);
  impl_->poller.Wake();
  impl_->thread.join();
  impl_->undecided.clear();
  impl_->socket.Close();
  impl_->poller = {};
  impl_->registry.Close();
}

}  // namespace keibi::stream
