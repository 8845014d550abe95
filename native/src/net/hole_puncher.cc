// SPDX-License-Identifier: MPL-2.0
#include "net/hole_puncher.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/socket.h"

namespace keibi::net {

using core::Fd;
using core::Status;

void HolePuncher::Begin(PunchPlace place, uint16_t from_port, uint64_t id) {
  if (punches_.size() >= kMost) punches_.erase(punches_.begin());
  const auto deadline = Clock::now() + place.wait;
  Try(punches_.try_emplace(id, Punch{std::move(place), from_port, deadline, deadline, Fd()}).first);
}

Fd HolePuncher::Advance(uint64_t id, PunchPlace* place) {
  const auto at = punches_.find(id);
  if (at == punches_.end() || !at->second.fd.valid()) return Fd();
  pollfd look{at->second.fd.get(), POLLOUT, 0};
  if (poll(&look, 1, 0) != 1) return Fd();
  if (const int error = DialError(at->second.fd.get()); error != 0) {
    Fail(at, error);
    return Fd();
  }
  Punch punch = std::move(punches_.extract(at).mapped());
  poller_->Remove(punch.fd.get());
  *place = std::move(punch.place);
  return std::move(punch.fd);
}

void HolePuncher::Retry() {
  const auto now = Clock::now();
  for (auto next = punches_.begin(); next != punches_.end();) {
    const auto at = next++;
    if (at->second.deadline <= now) {
      punches_.erase(at);
    } else if (at->second.again <= now) {
      Try(at);
    }
  }
}

HolePuncher::Clock::time_point HolePuncher::next() const {
  auto first = Clock::time_point::max();
  for (const auto& [id, punch] : punches_) first = std::min(first, punch.again);
  return first;
}

void HolePuncher::Try(At at) {
  Punch& punch = at->second;
  punch.again = punch.deadline;
  const Status status = BeginDial(punch.place.host, punch.place.port, &punch.fd, punch.from_port);
  if (!status.ok()) return Fail(at, status.system_error);
  if (!poller_->AddForWriting(punch.fd.get(), at->first)) punches_.erase(at);
}

// Drops a punch whose error is permanent. That includes an address pair that has a connection: the other side's dial
// came first.
void HolePuncher::Fail(At at, int error) {
  at->second.fd.Close();
  at->second.again = std::min(Clock::now() + kDialAgain, at->second.deadline);
  if (!MayYetBeAnswered(error)) punches_.erase(at);
}

}  // namespace keibi::net
