// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "frame/frame.h"
#include "net/lane_buffer.h"
#include "net/lane_dial.h"
#include "net/rate_limiter.h"
#include "platform/path_state.h"
#include "remote/cache_file.h"
#include "share/read_wire.h"

namespace keibi::remote {

// Receives a lane's answers. Called on the lane's thread; an error ends the lane: the peer broke the protocol.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual core::Status OnBytes(uint32_t lane, uint32_t file, uint64_t offset, const uint8_t* data, uint32_t bytes) = 0;
  virtual core::Status OnRefusal(uint32_t lane, const share::Refusal& refusal) = 0;
  // After each frame: its room can be used for further requests.
  virtual void OnFrameEnd(uint32_t lane) = 0;
};

// The guest's end of one lane of a share. Run() is the lane's thread. One thread at a time makes requests, which never
// wait for the network.
class ReadLane {
 public:
  ReadLane(uint32_t number, net::DialledLane dialled, AnswerSink* sink, net::RateLimiter* limiter)
      : number_(number), dialled_(std::move(dialled)), sink_(sink), limiter_(limiter) {}

  core::Status Run();  // FRAME_* codes, kHandshakeMalformed, kSessionLost
  void Shutdown();     // from any thread: ends Run() soon

  uint32_t number() const { return number_; }
  uint64_t bytes() const { return bytes_.load(); }    // on the wire, received
  uint64_t frames() const { return frames_.load(); }  // of answers
  platform::PathState path() const { return platform::PathOf(dialled_.socket.get()); }

  // Whether one more read of a file with this path fits.
  bool HasRoomFor(uint32_t file, const std::string& path) const;
  bool Names(uint32_t file) const { return named_.contains(file); }
  void Ask(uint32_t file, const std::string& path, const CacheIdentity& identity, uint64_t offset, uint32_t length,
           bool ahead);
  void Answered(uint32_t file, uint32_t length);  // one read fewer is pending
  void Forget(uint32_t file);
  void Flush();  // sends new requests, as far as the socket takes them at once

  uint64_t under_way() const { return under_way_; }  // bytes requested and not answered
  size_t reads() const { return reads_; }

 private:
  // A file that the other side knows by its number.
  struct Named {
    size_t path_bytes = 0;
    size_t reads = 0;  // unanswered
  };

  bool FitsName(const std::string& path) const;
  void MakeRoomFor(const std::string& path);
  core::Status ReceiveFrame(size_t* plaintext_bytes);
  core::Status TakeAnswers(size_t plaintext_bytes);

  const uint32_t number_;
  const net::DialledLane dialled_;
  AnswerSink* const sink_;
  net::RateLimiter* const limiter_;
  net::LaneBuffer buffer_;
  std::atomic<uint64_t> bytes_ = 0, frames_ = 0;

  std::unordered_map<uint32_t, Named> named_;
  size_t named_bytes_ = 0;
  uint64_t under_way_ = 0;
  size_t reads_ = 0;
  std::vector<uint8_t> asks_;     // not yet in a frame
  std::vector<uint8_t> backlog_;  // in frames that did not fit the socket
  size_t backlog_at_ = 0;
};

}  // namespace keibi::remote
