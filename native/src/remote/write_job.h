// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "core/wake.h"
#include "disk/byte_range.h"
#include "frame/rekey.h"
#include "net/lane_end.h"
#include "remote/guest_lanes.h"
#include "remote/write_lane.h"

namespace keibi::remote {

// The events since the last TakeNews.
struct WriteNews {
  struct Settled {
    uint32_t put = 0;
    core::Status status;
  };
  std::vector<Settled> settled;
  std::vector<net::LaneEnd> lanes_ended;
};

// Writes files of a share in place: a put's changes go from its overlay to the lanes of a session. A piece counts once
// the sharing peer has written it (PROTOCOL 11.2). The remaining lanes resend a lost lane's pieces; the end of a
// session ends its puts. Puts take turns, piece by piece. Any thread.
class WriteJob : private PieceSource {
 public:
  WriteJob(std::shared_ptr<net::RateBudget> budget, core::Wake wake);
  ~WriteJob() override;  // Stop() must have been called

  // Dials one lane (lane_dial.h) of the current session; may block.
  core::Status AddLane(const net::LanePlace& place, uint32_t lane, const net::ExpectedLanes& session);
  // Ends the session: its lanes end, its puts settle with kSessionLost, and lanes of another session may follow.
  void EndSession();
  uint32_t session() const;  // how many sessions have ended
  // From now on every lane's reader can follow its writer to this rekey (PROTOCOL 4.3).
  void Rekey(uint32_t number, frame::Key secret);
  // The other side's readers can follow too: every lane's writer moves to it before its next frame.
  void RekeyReady(uint32_t number);
  // Ends lanes that have owed an answer for so long while nothing moves.
  void CutSilent(std::chrono::milliseconds patience);
  std::vector<net::LaneState> lanes() const;

  // Begins to write ranges of an overlay to a handle of this session. The news settle `put`, a number in no other use,
  // when no piece of it is pending. After Cancel they do not, and no more of it is sent. kSizeMismatch for ranges out
  // of order; kSessionLost for an ended session; kDestinationUnusable for a missing overlay.
  core::Status Begin(uint32_t put, uint32_t session, uint32_t handle, const std::string& directory,
                     const std::string& key, std::vector<disk::ByteRange> ranges);
  void Cancel(uint32_t put);

  uint64_t bytes() const;  // on the wire, sent in this session
  WriteNews TakeNews();
  void Stop();  // ends and joins all threads; idempotent

 private:
  using Lane = GuestLanes<WriteLane>::Lane;
  using Clock = GuestLanes<WriteLane>::Clock;
  struct Put {
    uint32_t handle = 0;
    std::shared_ptr<const DirtyFile> overlay;
    std::vector<disk::ByteRange> ranges;
    size_t range = 0;  // the first range not wholly handed to lanes, and how much of it was
    uint64_t begun = 0;
    uint32_t under_way = 0;  // pending pieces
    core::Status failed;
    bool cancelled = false;

    bool IsGoing() const { return failed.ok() && !cancelled; }
  };
  struct UnderWay {
    uint32_t put = 0;
    uint32_t length = 0;
    uint32_t lane = 0;
  };
  using Place = std::pair<uint32_t, uint64_t>;  // handle, offset

  bool Next(uint32_t lane, Piece* piece) override;
  void OnUnreadable(uint32_t lane, const Piece& piece, core::Status status) override;
  core::Status OnWritten(uint32_t lane, const share::Written& written) override;

  void RunLane(Lane* lane);
  void EndLane(Lane* lane, core::Status status);
  bool HasPieceLocked() const;
  Piece TakePieceLocked(uint32_t* put);
  void SettleLocked(uint32_t number);
  void ArrivedLocked(std::map<Place, UnderWay>::iterator at, core::Status status);

  net::RateLimiter limiter_;
  const core::Wake wake_;
  std::atomic<bool> stopped_ = false;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  GuestLanes<WriteLane> lanes_{&mutex_, &stopped_};
  std::shared_ptr<frame::RekeySecrets> ready_rekeys_ = std::make_shared<frame::RekeySecrets>();  // of writers
  std::map<uint32_t, Put> puts_;
  std::deque<uint32_t> turns_;                              // of puts with something to send
  std::deque<std::pair<uint32_t, disk::ByteRange>> again_;  // pieces of lost lanes, by put
  std::map<Place, UnderWay> under_way_;
  uint64_t bytes_under_way_ = 0;
  WriteNews news_;
};

}  // namespace keibi::remote
