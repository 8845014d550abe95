// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "frame/frame.h"
#include "net/lane_buffer.h"
#include "net/socket.h"
#include "share/served_files.h"
#include "share/write_handles.h"
#include "share/write_wire.h"

namespace keibi::share {

// The sharing end of one lane: takes a guest's requests, answers each read once, by its bytes or by a refusal (PROTOCOL
// 11.1), and writes the guest's data (11.2). Reads with a waiting reader go before prefetches. Run() is the lane's
// thread.
class ServeLane {
 public:
  // `written`: null if the folder is read-only.
  ServeLane(core::Fd socket, std::unique_ptr<frame::Sealer> sealer, std::unique_ptr<frame::Opener> opener,
            const ServedFolder& folder, WriteHandles* written, net::RateLimiter* limiter);

  // Runs until the guest is gone or breaks the protocol. FRAME_* codes, kHandshakeMalformed, kSessionLost; kCancelled.
  core::Status Run();
  void Shutdown();  // from any thread: ends Run() soon

  uint64_t bytes() const { return bytes_.load(); }  // file bytes sent

 private:
  struct Read {
    uint32_t file;
    uint64_t offset;
    uint32_t length;
  };

  bool HasWork() const;
  bool HasAsks() const;
  bool MayTakeMore() const;
  core::Status Receive(bool wait);
  core::Status TakeHead();
  core::Status TakeFrame();
  core::Status TakeAsks(const uint8_t* at, const uint8_t* end);
  core::Status TakeWrite(const uint8_t* from, size_t bytes);
  core::Status TakeReadRequest(const ReadRequest& ask);
  void Drop(uint32_t file, std::deque<Read>* reads);
  core::Status Serve();
  core::Status SendRecords(manifest::LaneFrame kind, std::vector<uint8_t>* records);
  core::Status SendFrame(manifest::LaneFrame kind, size_t plaintext_bytes);

  const core::Fd socket_;
  const std::unique_ptr<frame::Sealer> sealer_;
  const std::unique_ptr<frame::Opener> opener_;
  net::RateLimiter* const limiter_;
  WriteHandles* const written_;
  ServedFiles files_;
  std::deque<Read> wanted_, ahead_;
  std::vector<uint8_t> refusals_;  // to be sent
  std::vector<uint8_t> outcomes_;  // of writes, to be sent
  size_t unanswered_ = 0;          // bytes of the writes with unsent outcomes
  uint8_t head_[frame::kHeaderBytes];
  uint8_t* frame_ = nullptr;               // target of the arriving frame, once its head is here
  size_t frame_bytes_ = 0, got_ = 0;       // including its head
  std::vector<uint8_t> asks_;              // room for one frame of requests
  std::optional<net::LaneBuffer> writes_;  // room for one frame of file bytes, once there is one
  net::LaneBuffer buffer_;
  std::atomic<bool> stopped_ = false;
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace keibi::share
