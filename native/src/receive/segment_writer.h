// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/status.h"
#include "manifest/entry_table.h"
#include "manifest/segment.h"
#include "receive/file_placer.h"
#include "receive/part_files.h"
#include "receive/pipe_output.h"
#include "receive/receive_lane.h"
#include "receive/receive_ledger.h"
#include "receive/stream_files.h"
#include "receive/writer_pool.h"

namespace keibi::receive {

// Checks the segments that lanes receive, and writes each where its file grows: a small file of staging, a part, a
// stream, or a pipe. Owns the threads that write small files. Any thread; has no lock of its own.
class SegmentWriter : public SegmentSink {
 public:
  // With `pipe` all bytes go there, and nothing else is written.
  SegmentWriter(const manifest::EntryTable& table, const Staging& staging, ReceiveLedger* ledger, PartFiles* parts,
                FilePlacer* placer, PipeOutput* pipe)
      : table_(table),
        staging_(staging),
        ledger_(ledger),
        parts_(parts),
        placer_(placer),
        pipe_(pipe),
        streams_(staging, ledger, placer) {}

  void StartPool();  // call before any lane runs
  // Two steps, since a lane may wait for the pool: StopPool joins its threads and lets such lanes end. Close, once no
  // lane runs, frees the pool and the streams. Both idempotent.
  void StopPool();
  void Close();

  core::Status OnSegments(std::unique_ptr<net::LaneBuffer>* buffer, size_t plaintext_bytes) override;

  // The entry of the last segment taken, kTop before the first. Any thread.
  uint32_t latest() const { return latest_.load(std::memory_order_relaxed); }

  // Writes and places a wanted file of at most one chunk.
  void WriteSmall(const manifest::Segment& segment, const manifest::Entry& entry);

 private:
  core::Status Check(const manifest::Segment& segment, manifest::Entry* entry) const;
  core::Status WriteAll(const uint8_t* plaintext, size_t bytes);
  core::Status WriteOne(const manifest::Segment& segment, const manifest::Entry& entry);
  core::Status WriteChunk(const manifest::Segment& segment, const manifest::Entry& entry);
  core::Status WriteHole(const manifest::Segment& segment, const manifest::Entry& entry);

  const manifest::EntryTable& table_;
  const Staging& staging_;
  ReceiveLedger* const ledger_;
  PartFiles* const parts_;
  FilePlacer* const placer_;
  PipeOutput* const pipe_;  // may be null
  StreamFiles streams_;
  std::atomic<uint32_t> latest_ = manifest::kTop;
  std::unique_ptr<WriterPool> pool_;
};

}  // namespace keibi::receive
