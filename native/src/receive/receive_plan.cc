// SPDX-License-Identifier: MPL-2.0
// The part of ReceiveJob that examines a page before bytes flow: which entries are wanted, already here, or need no
// bytes.
#include <cerrno>

#include "core/limits.h"
#include "receive/receive_job.h"

namespace keibi::receive {

using core::Code;
using core::Status;
using manifest::Entry;
using manifest::EntryType;

Status ReceiveJob::Plan(uint32_t first, uint32_t count, const uint8_t* page, size_t page_bytes, ReceivePlan* result) {
  const std::scoped_lock call(calls_);
  if (const Status status = table_.AddPage(page, page_bytes, first, count); !status.ok()) return status;
  ledger_.Resize(size_t{first} + count);
  result->first = first;
  result->wanted.assign((size_t{count} + 7) / 8, 0);
  for (uint32_t index = first; index < first + count; index++) {
    if (stopped_.load()) return Status::Of(Code::kCancelled);
    Entry entry;
    table_.Find(index, &entry);
    if (options_.to_stdout) {
      if (entry.IsFile()) Want(index, entry, result);
    } else if (entry.type == EntryType::kDirectory) {
      PlanDirectory(index, entry);
    } else {
      PlanLeaf(index, entry, options_.collisions, result);
    }
  }
  return Status::Ok();
}

Status ReceiveJob::Decide(uint32_t index, Collision choice, ReceivePlan* result) {
  const std::scoped_lock call(calls_);
  if (stopped_.load()) return Status::Of(Code::kCancelled);
  Entry entry;
  if (!table_.Find(index, &entry) || ledger_.StateOf(index) != ReceiveLedger::State::kNone)
    return Status::Of(Code::kInternal);
  if (entry.type == EntryType::kDirectory) return Status::Of(Code::kInternal);
  result->first = index;
  result->wanted.assign(1, 0);
  PlanLeaf(index, entry, choice, result);
  return Status::Ok();
}

Status ReceiveJob::Refetch(uint32_t index, ReceivePlan* result) {
  const std::scoped_lock call(calls_);
  if (stopped_.load()) return Status::Of(Code::kCancelled);
  Entry entry;
  if (!table_.Find(index, &entry) || ledger_.StateOf(index) != ReceiveLedger::State::kNone || !entry.IsFile())
    return Status::Of(Code::kInternal);
  if (const Status status = destination_.MarkDamaged(index, entry); !status.ok()) return status;
  ledger_.RemoveSkipped(entry.size);
  result->first = index;
  result->wanted.assign(1, 0);
  Want(index, entry, result);
  return Status::Ok();
}

void ReceiveJob::PlanDirectory(uint32_t index, const Entry& entry) {
  const Status status = destination_.MakeDirectory(index, entry, options_.collisions);
  if (!status.ok()) ledger_.Refuse(index, status);
}

// Handles a file or a symlink.
void ReceiveJob::PlanLeaf(uint32_t index, const Entry& entry, Collision policy, ReceivePlan* result) {
  Found found = Found::kAbsent;
  if (const Status status = destination_.Examine(index, entry, policy, &found); !status.ok())
    return ledger_.Refuse(index, status);
  switch (found) {
    case Found::kCollides:
      result->collisions.push_back(index);
      return;
    case Found::kSkipped:
      result->skipped.push_back(index);
      [[fallthrough]];
    case Found::kUpToDate:
      if (entry.IsFile()) ledger_.AddSkipped(entry.size);
      if (found == Found::kUpToDate && entry.IsFile() && entry.size > 0) result->up_to_date.push_back(index);
      return;
    case Found::kAbsent:
      break;
  }
  if (entry.type == EntryType::kSymlink) {
    if (const Status status = destination_.MakeSymlink(index, entry, staging_); !status.ok())
      ledger_.Refuse(index, status);
    return;
  }
  Want(index, entry, result);
}

// Marks a file wanted, and settles it at once if none of its bytes is missing.
void ReceiveJob::Want(uint32_t index, const Entry& entry, ReceivePlan* result) {
  if (entry.size > manifest::kMaxChunkedBytes) return ledger_.Refuse(index, Status::Of(Code::kDiskFull, EFBIG));
  ledger_.Want(index);
  if (entry.type == EntryType::kFile && entry.size == 0)
    return options_.to_stdout ? ledger_.Done(index, 0, 0) : writer_.WriteSmall({index}, entry);
  if (entry.size > core::kChunkBytes && staging_.had_parts() && !WantRest(index, entry, result)) return;
  const uint32_t bit = index - result->first;
  result->wanted[bit / 8] |= static_cast<uint8_t>(1U << (bit % 8));
}

// Looks for an earlier run's part of a large file. False if nothing of it is wanted: complete, or of a later KeibiDrop.
bool ReceiveJob::WantRest(uint32_t index, const Entry& entry, ReceivePlan* result) {
  std::shared_ptr<PartFile> part;
  const PartFile::Found found = parts_.Resume(index, entry, &part);
  if (found == PartFile::Found::kOther) result->restarted.push_back(index);
  if (found == PartFile::Found::kNewer) {
    ledger_.Refuse(index, Status::Of(Code::kFileNewer));
    return false;
  }
  if (found != PartFile::Found::kRest) return true;
  const manifest::Bitmap held = part->held();
  const uint64_t held_bytes = held.Has(held.chunks() - 1)
                                  ? entry.size - uint64_t{held.chunks() - held.held()} * core::kChunkBytes
                                  : uint64_t{held.held()} * core::kChunkBytes;
  ledger_.AddResumed(held_bytes);
  if (held.complete()) {
    placer_.Add({index, part->DataName(), part, entry.size, 0});
    return false;
  }
  result->partials.emplace_back(index, held.bytes());
  return true;
}

}  // namespace keibi::receive
