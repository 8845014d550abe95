// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/status.h"
#include "core/wake.h"
#include "net/lane_end.h"

namespace keibi::receive {

struct EntryProblem {
  uint32_t entry;
  core::Status status;
};

struct ReceiveNews {
  std::vector<EntryProblem> problems;
  std::vector<uint32_t> placed;
  std::vector<net::LaneEnd> lanes_ended;
  bool complete = false;  // everything wanted is placed or has failed, and no more pages come
};

struct ReceiveProgress {
  uint32_t files = 0;          // placed by this run
  uint64_t bytes = 0;          // of the offer, on disk: received now, held before or already there
  uint64_t placed_bytes = 0;   // of placed files
  uint32_t skipped = 0;        // already there, or left alone
  uint64_t resumed_bytes = 0;  // included in `bytes`: held from an earlier run
  uint64_t skipped_bytes = 0;  // included in `bytes`: of skipped files
};

// The state of each entry of one transfer, its news and its progress. An entry is wanted once and settled once: done
// or failed. Any thread. `mutex_` guards everything; no other lock is taken while it is held.
class ReceiveLedger {
 public:
  // kTaken: a small file being written. kDiscarded: wanted, but only counted.
  enum class State : uint8_t { kNone, kWanted, kTaken, kDiscarded, kDone, kFailed };

  // `report_placed`: news name each placed entry. `wake` announces news.
  ReceiveLedger(bool report_placed, core::Wake wake) : report_placed_(report_placed), wake_(std::move(wake)) {}

  void Resize(size_t entries);  // call before any other method names one of them
  void EndOfPages();            // no more entries come

  State StateOf(uint32_t index) const;
  void Want(uint32_t index);
  void Discard(uint32_t index);               // wanted -> discarded
  bool Claim(uint32_t index);                 // wanted -> taken; true once
  bool Withdraw(uint32_t index);              // unsettled -> failed, without a problem to report; true once
  void Fail(uint32_t index, core::Status);    // wanted or taken -> failed
  void Refuse(uint32_t index, core::Status);  // an entry that was never wanted -> failed
  // Unsettled -> done. `new_bytes`: of its bytes, those not yet counted by AddBytes.
  void Done(uint32_t index, uint64_t file_bytes, uint64_t new_bytes);

  void AddBytes(uint64_t bytes);
  void AddResumed(uint64_t bytes);
  // Bytes of a discarded entry. It is done when all `file_bytes` are counted.
  void AddDiscarded(uint32_t index, uint64_t bytes, uint64_t file_bytes);
  void AddSkipped(uint64_t file_bytes);
  void RemoveSkipped(uint64_t file_bytes);
  void AddLaneEnd(net::LaneEnd end);
  // A problem of an entry that stays settled as it is. Does not wake: the caller takes the news next.
  void AddProblem(uint32_t index, core::Status status);

  ReceiveNews TakeNews();
  ReceiveProgress progress() const;

 private:
  bool SettleLocked(uint32_t index, State state);
  void CheckCompleteLocked();

  const bool report_placed_;
  const core::Wake wake_;
  mutable std::mutex mutex_;
  std::vector<State> states_;
  std::unordered_map<uint32_t, uint64_t> discarded_;  // byte counts of entries that are only counted
  uint32_t pending_ = 0;                              // wanted, and not settled
  bool end_of_pages_ = false;
  bool announced_ = false;  // complete
  ReceiveNews news_;
  ReceiveProgress progress_;
};

}  // namespace keibi::receive
