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
#include "frame/fold.h"
#include "stream/guest_lanes.h"
#include "stream/lane_end.h"
#include "stream/wake.h"
#include "stream/write_lane.h"

namespace keibi::stream {

// What has happened since the last look.
struct WriteNews {
  struct Settled {
    uint32_t put = 0;
    core::Status status;
  };
  std::vector<Settled> settled;
  std::vector<LaneEnd> lanes_ended;
};

// Writes files of a share in place: what a put has changed goes from its draft by the lanes of a session, and each
// piece counts once the sharing peer has written it (PROTOCOL 11.2). What a lost lane has not brought goes by those
// that are left; a session that ends, ends its puts. Puts take turns, piece by piece. Any thread.
class WriteJob : private PieceSource {
 public:
  WriteJob(std::shared_ptr<RateBudget> budget, Wake wake);
  ~WriteJob() override;  // Stop() must have been called

  // Dials one lane (lane_dial.h) of the present session; may block.
  core::Status AddLane(const LanePlace& place, uint32_t lane, const ExpectedLanes& session);
  // The session is over: its lanes end, its puts settle with kSessionLost, and lanes of another may come.
  void EndSession();
  uint32_t session() const;  // how many have ended
  // Every lane's reader can follow its writer to this fold (PROTOCOL 4.3).
  void Fold(uint32_t number, frame::Key secret);
  // The other side's readers can, too: every lane's writer moves to it before its next frame.
  void FoldReady(uint32_t number);
  // Ends lanes that owe an answer for so long while nothing moves.
  void CutSilent(std::chrono::milliseconds patience);
  std::vector<LaneState> lanes() const;

  // Begins to write ranges of a draft by a handle of this session. News tell of `put`, which nobody else may have, once
  // nothing of it is under way; not after Cancel, by which nothing more of it leaves. kSizeMismatch for ranges that are
  // out of order; kSessionLost for a session that is over; kDestinationUnusable for a draft that is not there.
  core::Status Begin(uint32_t put, uint32_t session, uint32_t handle, const std::string& directory,
                     const std::string& key, std::vector<ByteRange> ranges);
  void Cancel(uint32_t put);

  uint64_t bytes() const;  // of the wire, sent in this session
  WriteNews TakeNews();
  void Stop();  // ends and joins all threads; idempotent

 private:
  using Lane = GuestLanes<WriteLane>::Lane;
  using Clock = GuestLanes<WriteLane>::Clock;
  struct Put {
    uint32_t handle = 0;
    std::shared_ptr<const Draft> draft;
    std::vector<ByteRange> ranges;
    size_t range = 0;  // the first that is not all under way, and how much of it is
    uint64_t begun = 0;
    uint32_t under_way = 0;  // pieces
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
  core::Status OnWritten(uint32_t lane, const Written& written) override;

  void RunLane(Lane* lane);
  void EndLane(Lane* lane, core::Status status);
  bool HasPieceLocked() const;
  Piece TakePieceLocked(uint32_t* put);
  void SettleLocked(uint32_t number);
  void ArrivedLocked(std::map<Place, UnderWay>::iterator at, core::Status status);

  RateLimiter limiter_;
  const Wake wake_;
  std::atomic<bool> stopped_ = false;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  GuestLanes<WriteLane> lanes_{&mutex_, &stopped_};
  std::shared_ptr<frame::FoldSecrets> ready_folds_ = std::make_shared<frame::FoldSecrets>();  // of writers
  std::map<uint32_t, Put> puts_;
  std::deque<uint32_t> turns_;                        // of puts that have something to be sent
  std::deque<std::pair<uint32_t, ByteRange>> again_;  // pieces of lost lanes, by put
  std::map<Place, UnderWay> under_way_;
  uint64_t bytes_under_way_ = 0;
  WriteNews news_;
};

}  // namespace keibi::stream
