// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <memory>

#include "core/status.h"
#include "manifest/entry_table.h"
#include "receive/destination.h"
#include "receive/part_files.h"
#include "receive/receive_ledger.h"
#include "receive/sync_batch.h"

namespace keibi::receive {

// Gives whole files in staging their final names and settles their entries: at once, or for a durable transfer once
// their bytes would survive a power cut. Any thread; has no lock of its own.
class FilePlacer {
 public:
  FilePlacer(const manifest::EntryTable& table, const Staging& staging, Destination* destination, PartFiles* parts,
             ReceiveLedger* ledger)
      : table_(table), staging_(staging), destination_(destination), parts_(parts), ledger_(ledger) {}

  void StartBatch();  // durable; call before the first Add
  // Files of the batch that are not synced yet stay in staging. Idempotent.
  void Stop();

  void Add(Finished file);

 private:
  void Place(const Finished& file, core::Status safe);

  const manifest::EntryTable& table_;
  const Staging& staging_;
  Destination* const destination_;
  PartFiles* const parts_;
  ReceiveLedger* const ledger_;
  std::unique_ptr<SyncBatch> batch_;  // if durable
};

}  // namespace keibi::receive
