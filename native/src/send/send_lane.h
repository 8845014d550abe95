// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <functional>
#include <memory>

#include "core/fd.h"
#include "core/status.h"
#include "frame/frame.h"
#include "net/lane_buffer.h"
#include "net/socket.h"
#include "platform/path_state.h"
#include "send/send_queue.h"
#include "send/sent_log.h"
#include "send/source.h"

namespace keibi::send {

// The sending end of one lane: takes work, reads it straight into a frame, seals it in place, sends it. Run() is the
// lane's thread.
class SendLane {
 public:
  using OnFailed = std::function<void(uint32_t entry, core::Status)>;

  SendLane(core::Fd socket, std::unique_ptr<frame::Sealer> sealer, SendQueue* queue, const Sources* sources,
           net::RateLimiter* limiter, OnFailed on_failed)
      : socket_(std::move(socket)),
        sealer_(std::move(sealer)),
        queue_(queue),
        sources_(sources),
        limiter_(limiter),
        on_failed_(std::move(on_failed)) {}

  core::Status Run();
  // From any thread.
  void Shutdown();  // ends Run() soon
  void Retire();    // ends it with an end frame, after the current frame
  SentLog& log() { return log_; }
  bool streaming() const { return streaming_.load(); }  // it has begun a stream and not ended it
  platform::PathState path() const { return platform::PathOf(socket_.get()); }

 private:
  core::Status Do(const SendWork& work);
  core::Status SendChunk(const SendWork& work);
  core::Status SendHole(const SendWork& work, uint32_t chunks);
  core::Status SendPack(const std::vector<uint32_t>& pack);
  core::Status SendStream(uint32_t index);
  size_t AppendWhole(uint32_t index, size_t at);
  core::Status SendFrame(manifest::LaneFrame kind, size_t plaintext_bytes);

  const core::Fd socket_;
  const std::unique_ptr<frame::Sealer> sealer_;
  SendQueue* const queue_;
  const Sources* const sources_;
  net::RateLimiter* const limiter_;
  const OnFailed on_failed_;
  std::atomic<bool> stopped_ = false, leaving_ = false, streaming_ = false;
  SentLog log_;
  net::LaneBuffer buffer_;
};

}  // namespace keibi::send
