// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "frame/frame.h"
#include "stream/lane_buffer.h"
#include "stream/served_files.h"
#include "stream/socket.h"

namespace keibi::stream {

// The sharing end of one lane: takes what a guest asks for, answers each read once, by its bytes or by a refusal
// (PROTOCOL 11.1). What a reader waits for goes before what is read ahead. Run() is the lane's thread.
class ServeLane {
 public:
  ServeLane(core::Fd socket, std::unique_ptr<frame::Sealer> sealer, std::unique_ptr<frame::Opener> opener,
            const ServedFolder& folder, RateLimiter* limiter);

  // Until the guest is gone, or breaks the protocol. FRAME_* codes, kHandshakeMalformed, kSessionLost; kCancelled.
  core::Status Run();
  void Shutdown();  // from any thread: ends Run() soon

  uint64_t bytes() const { return bytes_.load(); }  // of files, sent

 private:
  struct Read {
    uint32_t file;
    uint64_t offset;
    uint32_t length;
  };

  bool HasWork() const;
  bool HasAsks() const;
  core::Status ReceiveAsks();
  core::Status TakeAsk(const Ask& ask);
  void Drop(uint32_t file, std::deque<Read>* reads);
  core::Status Serve();
  core::Status SendRefusals();
  core::Status SendFrame(LaneFrame kind, size_t plaintext_bytes);

  const core::Fd socket_;
  const std::unique_ptr<frame::Sealer> sealer_;
  const std::unique_ptr<frame::Opener> opener_;
  RateLimiter* const limiter_;
  ServedFiles files_;
  std::deque<Read> wanted_, ahead_;
  std::vector<uint8_t> refusals_;  // to be sent
  std::vector<uint8_t> asks_;      // room for one frame of them
  LaneBuffer buffer_;
  std::atomic<bool> stopped_ = false;
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace keibi::stream
