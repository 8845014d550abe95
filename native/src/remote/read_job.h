// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "core/wake.h"
#include "frame/rekey.h"
#include "net/lane_end.h"
#include "remote/block_signal.h"
#include "remote/guest_lanes.h"
#include "remote/read_file.h"
#include "remote/read_lane.h"

namespace keibi::remote {

// The events since the last TakeNews.
struct ReadNews {
  struct Settled {
    uint32_t want = 0;
    core::Status status;
  };
  std::vector<Settled> settled;  // wants that had to wait
  std::vector<net::LaneEnd> lanes_ended;
};

// Reads files of a share in place: requests the wanted blocks on the lanes of a session and stores them in cache files.
// It outlives sessions: blocks that a lost lane did not deliver are requested on the remaining lanes, or on those of
// the next session. Any thread.
class ReadJob : private AnswerSink {
 public:
  ReadJob(std::shared_ptr<net::RateBudget> budget, core::Wake wake);
  ~ReadJob() override;  // Stop() must have been called

  // Dials one lane (lane_dial.h) of the current session; may block.
  core::Status AddLane(const net::LanePlace& place, uint32_t lane, const net::ExpectedLanes& session);
  // Ends the session and its lanes; lanes of another session may follow.
  void EndSession();
  // From now on every lane's reader can follow its writer to this rekey (PROTOCOL 4.3).
  void Rekey(uint32_t number, frame::Key secret);
  // Ends lanes that owe an answer and have delivered nothing for `patience`, so that other lanes are asked.
  void CutSilent(std::chrono::milliseconds patience);
  std::vector<net::LaneState> lanes() const;

  // Opens a cached file in a directory (cache_file.h). May block. Errors as of CacheFile::Open; kDestinationUnusable.
  core::Status Open(std::string path, const std::string& directory, const std::string& key,
                    const CacheIdentity& identity, uint32_t* file);
  // Ends the file's number: gives up its pending requests, and settles its waiters with kCancelled.
  void Release(uint32_t file);
  // The reader has jumped: cancels the prefetch, except for blocks that a Want waits for.
  void LeaveAhead(uint32_t file);

  // Requests blocks [first, first + count), and starts to prefetch `ahead` blocks after them. Returns kOk, and `here`
  // if all are cached. Otherwise the news later settle `want`, a number in no other use, unless Cancel comes first.
  // kSourceChanged, kSourceMissing, kPathRefused if the file has already failed so; kInternal for a file that is not
  // open.
  core::Status Want(uint32_t want, uint32_t file, uint32_t first, uint32_t count, uint32_t ahead, bool* here);
  void Cancel(uint32_t file, uint32_t want);

  uint32_t ahead_blocks() const;  // how many blocks a reader may prefetch
  uint64_t bytes() const;         // on the wire, received in this session
  ReadNews TakeNews();
  void Stop();  // ends and joins all threads; idempotent

 private:
  using Lane = GuestLanes<ReadLane>::Lane;
  using Files = std::map<uint32_t, std::unique_ptr<ReadFile>>;

  core::Status OnBytes(uint32_t lane, uint32_t file, uint64_t offset, const uint8_t* data, uint32_t bytes) override;
  core::Status OnRefusal(uint32_t lane, const share::Refusal& refusal) override;
  void OnFrameEnd(uint32_t lane) override;

  void RunLane(Lane* lane);
  uint32_t NumberLocked(uint32_t file) const;
  void GiveUpLocked(uint32_t number, ReadFile* file);
  Lane* BestLaneLocked(uint32_t file, const std::string& path);
  void AssignLocked(uint32_t number, ReadFile* file, AskedRun* run);
  void AssignWaitingLocked();
  void FlushLocked();
  void ArrivedLocked(uint32_t number, ReadFile* file, uint64_t offset, core::Status written);
  void SettleLocked(uint32_t number, ReadFile* file);
  void FailLocked(ReadFile* file, core::Status status);
  void ReportLocked(uint32_t want, core::Status status);
  uint32_t AheadBlocksLocked() const;

  net::RateLimiter limiter_;
  const core::Wake wake_;
  std::atomic<bool> stopped_ = false;

  mutable std::mutex mutex_;
  GuestLanes<ReadLane> lanes_{&mutex_, &stopped_};
  Files files_;
  uint32_t last_file_ = 0;
  std::map<uint32_t, uint32_t> renumbered_;  // files whose number on the lanes differs from the one that Open returned
  std::map<std::string, std::shared_ptr<BlockSignal>> signals_;  // by directory
  std::set<std::pair<uint32_t, uint32_t>> unassigned_;           // runs without a lane: file, first block
  ReadWindow window_;
  uint64_t under_way_ = 0;
  ReadNews news_;
};

}  // namespace keibi::remote
