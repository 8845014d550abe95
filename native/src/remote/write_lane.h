// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/status.h"
#include "net/lane_buffer.h"
#include "net/lane_dial.h"
#include "net/rate_limiter.h"
#include "platform/path_state.h"
#include "remote/dirty_file.h"
#include "share/write_wire.h"

namespace keibi::remote {

// A part of a put, at most a chunk, as one lane sends it.
struct Piece {
  uint32_t handle = 0;
  uint64_t offset = 0;
  uint32_t length = 0;
  std::shared_ptr<const DirtyFile> overlay;
};

// Provides a lane's pieces and takes their outcomes.
class PieceSource {
 public:
  virtual ~PieceSource() = default;
  // On the lane's sending thread: waits for the next piece. False when the lane has ended.
  virtual bool Next(uint32_t lane, Piece* piece) = 0;
  virtual void OnUnreadable(uint32_t lane, const Piece& piece, core::Status status) = 0;
  // On its receiving thread. An error ends the lane: the peer broke the protocol.
  virtual core::Status OnWritten(uint32_t lane, const share::Written& written) = 0;
};

// The guest's end of a lane on which it writes to a share (PROTOCOL 11.2). It has two threads: one seals and sends
// pieces, the other receives their outcomes.
class WriteLane {
 public:
  WriteLane(uint32_t number, net::DialledLane dialled, PieceSource* pieces, net::RateLimiter* limiter)
      : number_(number), dialled_(std::move(dialled)), pieces_(pieces), limiter_(limiter) {}

  void Send();             // until the source has no more, or the connection is lost
  core::Status Receive();  // FRAME_* codes, kHandshakeMalformed, kSessionLost
  void Shutdown();         // from any thread: ends both soon

  uint32_t number() const { return number_; }
  uint64_t bytes() const { return bytes_.load(); }    // on the wire, sent
  uint64_t frames() const { return frames_.load(); }  // of outcomes
  platform::PathState path() const { return platform::PathOf(dialled_.socket.get()); }

  // Unacknowledged pieces, as counted by the PieceSource. One thread at a time.
  void Owes(uint32_t length) { under_way_ += length; }
  void Answered(uint32_t length) { under_way_ -= length; }
  uint64_t under_way() const { return under_way_; }

 private:
  static constexpr size_t kOutcomesBytes = size_t{64} << 10;

  const uint32_t number_;
  const net::DialledLane dialled_;
  PieceSource* const pieces_;
  net::RateLimiter* const limiter_;
  std::atomic<uint64_t> bytes_ = 0, frames_ = 0;
  uint64_t under_way_ = 0;
};

}  // namespace keibi::remote
