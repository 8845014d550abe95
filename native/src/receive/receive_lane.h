// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/fd.h"
#include "core/status.h"
#include "frame/frame.h"
#include "net/lane_buffer.h"
#include "net/socket.h"
#include "platform/path_state.h"

namespace keibi::receive {

// Receives a lane's segments. Called on the lane's thread.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  // One frame's segments: the plaintext after its kind byte. May keep the buffer and leave another in its place. An
  // error ends the lane: the peer broke the protocol.
  virtual core::Status OnSegments(std::unique_ptr<net::LaneBuffer>* buffer, size_t plaintext_bytes) = 0;
};

// The receiving end of one lane: receives a frame, opens it in place, hands its segments over. Run() is the lane's
// thread.
class ReceiveLane {
 public:
  ReceiveLane(core::Fd socket, frame::Opener opener, SegmentSink* sink, net::RateLimiter* limiter)
      : socket_(std::move(socket)),
        opener_(std::move(opener)),
        sink_(sink),
        limiter_(limiter),
        buffer_(std::make_unique<net::LaneBuffer>()) {}

  // kOk after the peer's end frame. FRAME_* codes; kFrameTruncated inside a frame, kSessionLost between two.
  core::Status Run();
  void Shutdown();  // from any thread: ends Run() soon

  uint64_t bytes() const { return bytes_.load(); }    // on the wire
  uint64_t frames() const { return frames_.load(); }  // of segments, handed over
  platform::PathState path() const { return platform::PathOf(socket_.get()); }

 private:
  core::Status ReceiveFrame(size_t* plaintext_bytes);

  const core::Fd socket_;
  frame::Opener opener_;
  SegmentSink* const sink_;
  net::RateLimiter* const limiter_;
  std::unique_ptr<net::LaneBuffer> buffer_;
  std::atomic<uint64_t> bytes_ = 0, frames_ = 0;  // written by the lane's thread
};

}  // namespace keibi::receive
