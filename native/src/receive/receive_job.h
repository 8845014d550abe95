// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/wake.h"
#include "frame/rekey.h"
#include "manifest/segment.h"
#include "platform/write_at.h"
#include "receive/destination.h"
#include "receive/part_file.h"
#include "receive/receive_lanes.h"
#include "receive/sync_batch.h"
#include "receive/writer_pool.h"

namespace keibi::stream {

struct ReceiveOptions {
  std::string out;
  std::string beneath;  // not empty: the folder that `out` must not leave, as for Destination::Open
  Collision collisions = Collision::kRename;
  bool to_stdout = false;                        // bytes of files go to standard output in order; `out` is not touched
  bool report_placed = false;                    // collect the placed entries, for --verbose
  bool durable = false;                          // a file gets its name only when it would survive a power cut
  std::shared_ptr<RateBudget> budget = nullptr;  // shared with other jobs; null: no limit
};

struct EntryProblem {
  uint32_t entry;
  core::Status status;
};

// The receiver's answer to one page of the manifest.
struct ReceivePlan {
  uint32_t first = 0;
  std::vector<uint8_t> wanted;  // a bit per entry (PROTOCOL 7)
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> partials;
  std::vector<uint32_t> collisions;  // a person must decide: Decide
  std::vector<uint32_t> skipped;     // different, but left alone
  std::vector<uint32_t> restarted;   // their part belonged to another version
  std::vector<uint32_t> up_to_date;  // files with content that are already in place, by size and time
};

struct ReceiveNews {
  std::vector<EntryProblem> problems;
  std::vector<uint32_t> placed;
  std::vector<LaneEnd> lanes_ended;
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

// One transfer on the receiving peer. One thread at a time calls Plan, Decide and Finish, which may block. The job
// owns the lanes, the file pool and the bitmap saver.
class ReceiveJob : public SegmentSink {
 public:
  ReceiveJob(ReceiveOptions options, core::Wake wake);
  ~ReceiveJob() override { Stop(); }

  core::Status Open();
  core::Status Plan(uint32_t first, uint32_t count, const uint8_t* page, size_t page_bytes, ReceivePlan* result);
  core::Status Decide(uint32_t index, Collision choice, ReceivePlan* result);
  void EndOfPages();
  ReceiveLanes& lanes() { return lanes_; }
  // From now on every lane's reader can follow its writer to this rekey (PROTOCOL 4.3).
  void Rekey(uint32_t number, frame::Key secret) { rekeys_->Add(number, std::move(secret)); }
  void FailEntry(uint32_t index, bool keep_part);  // the sender cannot deliver it
  // Only counts a wanted file and writes nothing, for a measurement. Call before any byte of it arrives.
  void Discard(uint32_t index);
  // SHA-256 of each chunk of a placed file, read from the disk. May block.
  core::Status Digest(uint32_t index, std::vector<uint8_t>* digests);
  // Marks a placed file as damaged: any later run replaces it.
  core::Status Distrust(uint32_t index);
  // Like Distrust, for an entry of `up_to_date` before its page is answered: it becomes wanted, and its file is
  // replaced once the new one is whole.
  core::Status Refetch(uint32_t index, ReceivePlan* result);
  // After `complete`: sets mode and mtime of directories; if `durable`, makes names and content safe from a power cut.
  // kDiskFull, kDestinationUnusable.
  core::Status Finish();
  void Stop();  // saves the bitmaps durably, joins; idempotent

  ReceiveNews TakeNews();
  ReceiveProgress progress() const;
  const EntryTable& table() const { return table_; }
  Destination& destination() { return destination_; }

  core::Status OnSegments(std::unique_ptr<LaneBuffer>* buffer, size_t plaintext_bytes) override;

 private:
  // kTaken: a small file being written. kDiscarded: wanted, but only counted.
  enum class State : uint8_t { kNone, kWanted, kTaken, kDiscarded, kDone, kFailed };

  void PlanDirectory(uint32_t index, const Entry& entry);
  void PlanLeaf(uint32_t index, const Entry& entry, Collision policy, ReceivePlan* result);
  void Want(uint32_t index, const Entry& entry, ReceivePlan* result);
  bool WantRest(uint32_t index, const Entry& entry, ReceivePlan* result);
  void Report(uint32_t index, core::Status status);
  void CountSkipped(uint64_t bytes);
  void UncountSkipped(uint64_t bytes);

  core::Status CheckSegment(const Segment& segment, Entry* entry) const;
  core::Status TakeSegments(const uint8_t* plaintext, size_t bytes);
  void TakeWhole(const Segment& segment, const Entry& entry);
  core::Status TakeChunk(const Segment& segment, const Entry& entry);
  core::Status TakeHole(const Segment& segment, const Entry& entry);
  core::Status TakeStream(const Segment& segment, const Entry& entry);
  void TakeDiscarded(const Segment& segment, const Entry& entry);
  core::Status WriteOut(const Segment& segment, const Entry& entry);
  core::Status WriteToPipe(const uint8_t* data, size_t bytes) const;
  core::Status WriteZeros(uint64_t bytes);
  void PlaceWhenSafe(Finished file);
  void Place(const Finished& file, core::Status safe);
  Identity IdentityOf(uint32_t index, const Entry& entry) const;
  core::Status PartOf(uint32_t index, const Entry& entry, std::shared_ptr<PartFile>* part);
  void DropPart(uint32_t index);

  State StateOf(uint32_t index) const;
  bool Claim(uint32_t index);                // wanted -> taken, once
  bool Settle(uint32_t index, State state);  // wanted or taken -> state, once
  bool SettleLocked(uint32_t index, State state);
  void AddBytes(uint64_t bytes);
  void Done(uint32_t index, uint64_t file_bytes, uint64_t new_bytes);  // new_bytes: not yet counted by AddBytes
  void Fail(uint32_t index, core::Status status);
  void CheckComplete();
  void SaveParts(bool sync);
  void RunSaver();

  const ReceiveOptions options_;
  const core::Wake wake_;
  EntryTable table_;
  Destination destination_;
  Staging staging_;
  RateLimiter limiter_;
  const std::shared_ptr<frame::RekeySecrets> rekeys_ = std::make_shared<frame::RekeySecrets>();

  std::mutex calls_;  // Open, Plan, Decide, Finish and Stop, one at a time; taken first
  bool closed_ = false;

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  ReceiveNews news_;
  std::vector<State> states_;
  std::unordered_map<uint32_t, std::shared_ptr<PartFile>> parts_;
  size_t resumed_parts_ = 0;   // of parts_, those begun by an earlier run
  uint32_t out_entry_ = kTop;  // to_stdout: the entry being written
  uint64_t out_offset_ = 0;
  std::unordered_map<uint32_t, uint64_t> discarded_;  // byte counts of entries that are only counted
  uint32_t pending_ = 0;
  bool end_of_pages_ = false;
  bool announced_ = false;
  std::atomic<bool> stopped_ = false;  // written with mutex_ held
  ReceiveProgress progress_;

  struct OpenStream {
    core::Fd fd;
    uint64_t bytes = 0;
  };
  std::mutex streams_mutex_;  // taken before mutex_
  std::unordered_map<uint32_t, OpenStream> streams_;

  std::unique_ptr<WriterPool> pool_;
  std::unique_ptr<SyncBatch> sync_batch_;  // if `durable`
  std::thread saver_;
  ReceiveLanes lanes_;
};

}  // namespace keibi::stream
