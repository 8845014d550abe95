// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/wake.h"
#include "frame/rekey.h"
#include "receive/destination.h"
#include "receive/file_placer.h"
#include "receive/part_files.h"
#include "receive/pipe_output.h"
#include "receive/receive_lanes.h"
#include "receive/receive_ledger.h"
#include "receive/segment_writer.h"

namespace keibi::receive {

struct ReceiveOptions {
  std::string out;
  std::string beneath;  // not empty: the folder that `out` must not leave, as for Destination::Open
  Collision collisions = Collision::kRename;
  bool to_stdout = false;      // bytes of files go to standard output in order; `out` is not touched
  bool report_placed = false;  // collect the placed entries, for --verbose
  bool durable = false;        // a file gets its name only when it would survive a power cut
  std::shared_ptr<net::RateBudget> budget = nullptr;  // shared with other jobs; null: no limit
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

// One transfer on the receiving peer: plans each page of the manifest, and owns what receives the planned entries.
// One thread at a time calls Plan, Decide, Refetch and Finish, which may block; the other methods are for any thread.
class ReceiveJob {
 public:
  ReceiveJob(ReceiveOptions options, core::Wake wake);
  ~ReceiveJob() { Stop(); }

  core::Status Open();
  core::Status Plan(uint32_t first, uint32_t count, const uint8_t* page, size_t page_bytes, ReceivePlan* result);
  core::Status Decide(uint32_t index, Collision choice, ReceivePlan* result);
  void EndOfPages() { ledger_.EndOfPages(); }
  ReceiveLanes& lanes() { return lanes_; }
  // From now on every lane's reader can follow its writer to this rekey (PROTOCOL 4.3).
  void Rekey(uint32_t number, frame::Key secret) { rekeys_->Add(number, std::move(secret)); }
  void FailEntry(uint32_t index, bool keep_part);  // the sender cannot deliver it
  // Only counts a wanted file and writes nothing, for a measurement. Call before any byte of it arrives.
  void Discard(uint32_t index) { ledger_.Discard(index); }
  // SHA-256 of each chunk of a placed file, read from the disk. May block.
  core::Status Digest(uint32_t index, std::vector<uint8_t>* digests);
  // Marks a placed file as damaged, so that the next run replaces it.
  core::Status Distrust(uint32_t index);
  // Like Distrust, for an entry of `up_to_date` before its page is answered: it becomes wanted, and its file is
  // replaced once the new one is whole.
  core::Status Refetch(uint32_t index, ReceivePlan* result);
  // After `complete`: sets mode and mtime of directories; if `durable`, makes names and content safe from a power cut.
  // kDiskFull, kDestinationUnusable.
  core::Status Finish();
  void Stop();  // saves the bitmaps durably, joins; idempotent

  ReceiveNews TakeNews() { return ledger_.TakeNews(); }
  ReceiveProgress progress() const { return ledger_.progress(); }
  // The path of the file being written, as in the manifest; empty before the first.
  std::string CurrentPath() const { return table_.PathOf(writer_.latest()); }
  const manifest::EntryTable& table() const { return table_; }
  Destination& destination() { return destination_; }

 private:
  void PlanDirectory(uint32_t index, const manifest::Entry& entry);
  void PlanLeaf(uint32_t index, const manifest::Entry& entry, Collision policy, ReceivePlan* result);
  void Want(uint32_t index, const manifest::Entry& entry, ReceivePlan* result);
  bool WantRest(uint32_t index, const manifest::Entry& entry, ReceivePlan* result);

  const ReceiveOptions options_;
  std::mutex calls_;  // Open, Plan, Decide, Refetch, Finish and Stop, one at a time; taken before any other lock
  bool closed_ = false;
  std::atomic<bool> stopped_ = false;

  // In this order: each refers to some of those above it.
  manifest::EntryTable table_;
  Destination destination_;
  Staging staging_;
  ReceiveLedger ledger_;
  PartFiles parts_;
  FilePlacer placer_;
  PipeOutput pipe_;
  SegmentWriter writer_;
  net::RateLimiter limiter_;
  const std::shared_ptr<frame::RekeySecrets> rekeys_ = std::make_shared<frame::RekeySecrets>();
  ReceiveLanes lanes_;
};

}  // namespace keibi::receive
