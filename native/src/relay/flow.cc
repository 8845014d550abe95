// SPDX-License-Identifier: MPL-2.0
#include "relay/flow.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace keibi::relay {
Flow::State Flow::Pump(int from, int to, uint64_t turn_bytes, PipePool* pool, uint64_t* moved) {
  if (ended_) return State::kEnded;
  if (pipe_ == nullptr) pipe_ = pool->Take();
  if (pipe_ == nullptr) return State::kBroken;
  for (uint64_t turn = 0;;) {
    while (pipe_->held() > 0) {
      const ssize_t sent = pipe_->Drain(to);
      if (sent < 0 && errno == EAGAIN) return State::kWaits;
      if (sent <= 0) return State::kBroken;
      turn += static_cast<uint64_t>(sent);
      *moved += static_cast<uint64_t>(sent);
    }
    if (end_seen_) {
      ended_ = true;
      pool->Return(std::move(pipe_));
      return shutdown(to, SHUT_WR) == 0 ? State::kEnded : State::kBroken;
    }
    if (turn >= turn_bytes) {  // the other pairs get their turn
      pool->Return(std::move(pipe_));
      return State::kMore;
    }
    // Fills only an empty pipe, so that EAGAIN can only come from the socket.
    const ssize_t arrived = pipe_->Fill(from, static_cast<size_t>(turn_bytes - turn));
    if (arrived < 0 && errno != EAGAIN) return State::kBroken;
    if (arrived < 0) {
      pool->Return(std::move(pipe_));
      return State::kWaits;
    }
    end_seen_ = arrived == 0;
  }
}

}  // namespace keibi::relay
