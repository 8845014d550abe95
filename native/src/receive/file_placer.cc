// SPDX-License-Identifier: MPL-2.0
#include "receive/file_placer.h"

#include <utility>

namespace keibi::receive {

using core::Code;
using core::Status;

void FilePlacer::StartBatch() {
  batch_ = std::make_unique<SyncBatch>(staging_, [this](const Finished& file, Status safe) { Place(file, safe); });
}

void FilePlacer::Stop() {
  if (batch_) batch_->Stop();
}

void FilePlacer::Add(Finished file) {
  if (batch_) return batch_->Add(std::move(file));
  Place(file, Status::Ok());
}

// On the thread that brought the last byte, or on the batch's.
void FilePlacer::Place(const Finished& file, Status safe) {
  manifest::Entry entry;
  table_.Find(file.index, &entry);
  Status status = safe;
  // the sender gave up this file meanwhile
  if (ledger_->StateOf(file.index) == ReceiveLedger::State::kFailed) status = Status::Of(Code::kCancelled);
  if (status.ok() && file.part) status = file.part->Complete(entry.mode);
  if (status.ok()) status = destination_->Place(file.index, entry, staging_, file.staged);
  if (!status.ok()) {
    if (!file.part) staging_.Remove(file.staged);
    return ledger_->Fail(file.index, status);
  }
  if (file.part) file.part->Forget();
  ledger_->Done(file.index, file.bytes, file.new_bytes);
  // After Done: until then a chunk that is sent twice would begin the part again.
  if (file.part) parts_->Drop(file.index);
}

}  // namespace keibi::receive
