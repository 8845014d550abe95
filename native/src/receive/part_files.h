// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "core/status.h"
#include "manifest/entry_table.h"
#include "receive/part_file.h"
#include "receive/receive_ledger.h"

namespace keibi::receive {

// The parts of one transfer: its large files that are not whole yet. Limits how many a sender may begin, and saves
// their bitmaps every second. Any thread. `mutex_` guards all members; the ledger's lock may be taken within it.
class PartFiles {
 public:
  PartFiles(const manifest::EntryTable& table, const Staging& staging, const ReceiveLedger& ledger)
      : table_(table), staging_(staging), ledger_(ledger) {}
  ~PartFiles() { Stop(); }

  void Start();  // begins to save bitmaps
  // Saves all bitmaps durably and closes the parts; idempotent. Call when nothing writes to them any more.
  void Stop();

  // Loads a wanted entry's part of an earlier run, and sets `part` if it can be continued.
  PartFile::Found Resume(uint32_t index, const manifest::Entry& entry, std::shared_ptr<PartFile>* part);
  // The entry's part, begun if there is none. Null if the entry is settled: no part of it may appear again.
  // kLimitExceeded if the sender has begun too many.
  core::Status Take(uint32_t index, const manifest::Entry& entry, std::shared_ptr<PartFile>* part);
  void Drop(uint32_t index);     // of a placed file
  void Discard(uint32_t index);  // removes the part from the disk. Settle the entry first

 private:
  std::shared_ptr<PartFile> Create(uint32_t index, const manifest::Entry& entry) const;
  void Save(bool sync);
  void RunSaver();

  const manifest::EntryTable& table_;
  const Staging& staging_;
  const ReceiveLedger& ledger_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::unordered_map<uint32_t, std::shared_ptr<PartFile>> parts_;
  size_t resumed_ = 0;  // of parts_, those begun by an earlier run
  std::thread saver_;
};

}  // namespace keibi::receive
