// SPDX-License-Identifier: MPL-2.0
#include "relay/hub.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <list>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/poller.h"
#include "relay/address_count.h"
#include "relay/byte_budget.h"
#include "relay/flow.h"

namespace keibi::relay {
namespace {

using core::Code;
using core::Fd;
using core::Status;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Side {
  Fd fd;
  Networks networks;
};

struct Arrival {
  Side side;
  Token token;
};

struct Meeting;
using Meetings = std::list<Meeting*>;

// One waiting connection, or two joined ones. The poller's ids of the sides are 2 * id and 2 * id + 1.
struct Meeting {
  Meeting(uint64_t id, const Token& token, Side first) : id(id), token(token), first(std::move(first)) {}

  const uint64_t id;
  const Token token;
  Side first, second;                       // second: valid once it has come
  Flow there, back;                         // from the first to the second, and from the second to the first
  bool queued = false;                      // in Impl::unfinished
  Clock::time_point since = Clock::now();   // since it waits, or was joined
  Clock::time_point active = Clock::now();  // when bytes last moved
  Meetings::iterator by_age{}, by_activity{};

  bool paired() const { return second.fd.valid(); }
};

// The client may already be gone; the connection shows that later.
void Say(const Fd& fd, Answer answer) {
  const auto byte = static_cast<uint8_t>(answer);
  [[maybe_unused]] const ssize_t sent = send(fd.get(), &byte, 1, MSG_NOSIGNAL);
}

// splice(2) has no MSG_NOSIGNAL. The blocked signal stays pending on this thread and is ignored.
void BlockSigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

}  // namespace

// Only the hub's thread uses these members, except `arrivals` and `limits` (under the mutex), the counts, `poller.Wake`
// and `stopping`.
struct Hub::Impl {
  void Run() {
    BlockSigpipe();
    std::vector<uint64_t> ready;
    while (!stopping.load()) {
      poller.Wait(MillisecondsToWait(), &ready);
      TakeArrivals();
      for (const uint64_t id : ready) {
        const auto found = meetings.find(id / 2);
        if (found == meetings.end()) continue;
        Meeting* const meeting = found->second.get();
        if (meeting->paired())
          Pump(meeting);
        else if (!IsSilent(meeting->first.fd))
          End(meeting);
      }
      PumpUnfinished();
      EndExpired();
    }
  }

  int MillisecondsToWait() const {
    if (!unfinished.empty() && !throttled) return 0;
    auto until = Clock::time_point::max();
    if (!unfinished.empty()) until = Clock::now() + budget.Pause();
    if (!waiting.empty()) until = std::min(until, waiting.front()->since + now.wait);
    if (!by_age.empty()) until = std::min(until, by_age.front()->since + now.lifetime);
    if (!by_activity.empty()) until = std::min(until, by_activity.front()->active + now.idle);
    if (until == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, kLongestWaitMs));
  }

  void TakeArrivals() {
    std::vector<Arrival> arrived;
    {
      const std::scoped_lock lock(mutex);
      arrived.swap(arrivals);
      now = limits;
    }
    budget.SetRate(now.bytes_per_second);
    for (Arrival& arrival : arrived) Admit(std::move(arrival));
  }

  void Admit(Arrival arrival) {
    const auto found = by_token.find(arrival.token);
    const bool comes_first = found == by_token.end();
    const bool room =
        comes_first ? waiting.size() < now.waiting : !found->second->paired() && by_age.size() < now.pairs;
    if (!room || !networks.HasRoom(arrival.side.networks, now.per_address)) return Refuse(arrival.side.fd);
    if (comes_first)
      Wait(std::move(arrival));
    else
      Join(found->second, std::move(arrival.side));
  }

  void Refuse(const Fd& fd) {
    refused++;
    Say(fd, Answer::kNoRoom);
  }

  void Wait(Arrival arrival) {
    const uint64_t id = next_id++;
    auto meeting = std::make_unique<Meeting>(id, arrival.token, std::move(arrival.side));
    if (!poller.Add(meeting->first.fd.get(), 2 * id)) return Refuse(meeting->first.fd);
    networks.Add(meeting->first.networks);
    by_token.emplace(meeting->token, meeting.get());
    meeting->by_age = waiting.insert(waiting.end(), meeting.get());
    waiting_count = waiting.size();
    meetings.emplace(id, std::move(meeting));
  }

  void Join(Meeting* meeting, Side side) {
    poller.Remove(meeting->first.fd.get());
    if (!poller.AddForWriting(meeting->first.fd.get(), 2 * meeting->id) ||
        !poller.AddForWriting(side.fd.get(), 2 * meeting->id + 1)) {
      Refuse(side.fd);
      return End(meeting);
    }
    networks.Add(side.networks);
    meeting->second = std::move(side);
    meeting->since = meeting->active = Clock::now();
    waiting.erase(meeting->by_age);
    meeting->by_age = by_age.insert(by_age.end(), meeting);
    meeting->by_activity = by_activity.insert(by_activity.end(), meeting);
    waiting_count = waiting.size();
    pair_count = by_age.size();
    joined++;
    Say(meeting->first.fd, Answer::kJoined);
    Say(meeting->second.fd, Answer::kJoined);
  }

  // A waiting connection must send nothing before the answer; the hub treats data and a close the same.
  static bool IsSilent(const Fd& fd) {
    uint8_t byte;
    return recv(fd.get(), &byte, 1, MSG_PEEK) < 0 && (errno == EAGAIN || errno == EINTR);
  }

  // While the budget is used up, a pair waits and leaves its bytes in its sockets.
  bool MayPump() {
    throttled = !budget.Has(Clock::now());
    return !throttled;
  }

  void PumpLater(Meeting* meeting) {
    if (!std::exchange(meeting->queued, true)) unfinished.push_back(meeting->id);
  }

  void Pump(Meeting* meeting) {
    if (!MayPump()) return PumpLater(meeting);
    uint64_t moved = 0;
    const int first = meeting->first.fd.get(), second = meeting->second.fd.get();
    const Flow::State there = meeting->there.Pump(first, second, budget.turn_bytes(), &pipes, &moved);
    const Flow::State back = meeting->back.Pump(second, first, budget.turn_bytes(), &pipes, &moved);
    if (moved > 0) {
      bytes += moved;
      budget.Spend(moved);
      meeting->active = Clock::now();
      by_activity.splice(by_activity.end(), by_activity, meeting->by_activity);
    }
    const bool broken = there == Flow::State::kBroken || back == Flow::State::kBroken;
    if (broken || (there == Flow::State::kEnded && back == Flow::State::kEnded)) return End(meeting);
    const bool more = there == Flow::State::kMore || back == Flow::State::kMore;
    if (more) PumpLater(meeting);
  }

  void PumpUnfinished() {
    std::vector<uint64_t> ids;
    ids.swap(unfinished);
    for (const uint64_t id : ids) {
      const auto found = meetings.find(id);
      if (found == meetings.end()) continue;
      found->second->queued = false;
      Pump(found->second.get());
    }
  }

  void EndExpired() {
    const auto time = Clock::now();
    while (!waiting.empty() && waiting.front()->since + now.wait <= time) {
      expired++;
      Say(waiting.front()->first.fd, Answer::kNobodyCame);
      End(waiting.front());
    }
    while (!by_age.empty() && by_age.front()->since + now.lifetime <= time) Cut(by_age.front());
    while (!by_activity.empty() && by_activity.front()->active + now.idle <= time) Cut(by_activity.front());
  }

  void Cut(Meeting* meeting) {
    cut++;
    End(meeting);
  }

  // Closing the last copy of a descriptor removes it from the poller.
  void End(Meeting* meeting) {
    networks.Remove(meeting->first.networks);
    if (meeting->paired()) {
      networks.Remove(meeting->second.networks);
      by_age.erase(meeting->by_age);
      by_activity.erase(meeting->by_activity);
    } else {
      waiting.erase(meeting->by_age);
    }
    waiting_count = waiting.size();
    pair_count = by_age.size();
    by_token.erase(meeting->token);
    meetings.erase(meeting->id);
  }

  static constexpr int64_t kLongestWaitMs = 60'000;

  std::mutex mutex;
  std::vector<Arrival> arrivals;
  Limits limits;
  std::atomic<uint64_t> waiting_count = 0, pair_count = 0, joined = 0, refused = 0, expired = 0, cut = 0, bytes = 0;
  core::Poller poller;
  std::atomic<bool> stopping = false;
  std::thread thread;

  Limits now;  // the limits of this turn
  uint64_t next_id = 1;
  std::unordered_map<uint64_t, std::unique_ptr<Meeting>> meetings;
  std::map<Token, Meeting*> by_token;  // ordered: strangers choose the tokens and could force hash collisions
  NetworkCount networks;
  Meetings waiting;                  // the oldest first
  Meetings by_age, by_activity;      // pairs, the oldest first and the one idle for longest first
  std::vector<uint64_t> unfinished;  // in the order of their turns
  ByteBudget budget;
  bool throttled = false;  // nothing may be moved now
  PipePool pipes;
};

Hub::Hub(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Hub::~Hub() { Stop(); }

Status Hub::Open(std::unique_ptr<Hub>* hub) {
  auto impl = std::make_unique<Impl>();
  if (Status status = impl->poller.Open(); !status.ok()) return status;
  try {
    impl->thread = std::thread(&Impl::Run, impl.get());
  } catch (const std::system_error& error) {
    return Status::Of(Code::kInternal, error.code().value());
  }
  hub->reset(new Hub(std::move(impl)));
  return Status::Ok();
}

void Hub::SetLimits(const Limits& limits) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->limits = limits;
  impl_->poller.Wake();
}

void Hub::Take(Fd fd, const Token& token, const std::string& address) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->arrivals.push_back({{std::move(fd), NetworksOf(address)}, token});
  impl_->poller.Wake();
}

Stats Hub::stats() const {
  return {impl_->waiting_count, impl_->pair_count, impl_->joined, impl_->refused,
          impl_->expired,       impl_->cut,        impl_->bytes};
}

void Hub::Stop() {
  if (!impl_->thread.joinable()) return;
  impl_->stopping.store(true);
  impl_->poller.Wake();
  impl_->thread.join();
  impl_->meetings.clear();
  impl_->arrivals.clear();
  impl_->pipes = {};
  impl_->poller = {};
}

}  // namespace keibi::relay
