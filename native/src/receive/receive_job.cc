// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_job.h"

#include <unistd.h>

#include <utility>

#include "manifest/digest.h"
#include "platform/disk.h"

namespace keibi::receive {

using core::Code;
using core::Status;

ReceiveJob::ReceiveJob(ReceiveOptions options, core::Wake wake)
    : options_(std::move(options)),
      destination_(table_, options_.collisions),
      ledger_(options_.report_placed, std::move(wake)),
      parts_(table_, staging_, ledger_),
      placer_(table_, staging_, &destination_, &parts_, &ledger_),
      pipe_(STDOUT_FILENO, &ledger_, stopped_),
      writer_(table_, staging_, &ledger_, &parts_, &placer_, options_.to_stdout ? &pipe_ : nullptr),
      limiter_(options_.budget),
      lanes_(&writer_, &limiter_, stopped_, rekeys_, [this](net::LaneEnd end) { ledger_.AddLaneEnd(end); }) {}

Status ReceiveJob::Open() {
  if (options_.to_stdout) return Status::Ok();
  const std::scoped_lock call(calls_);
  if (stopped_.load()) return Status::Of(Code::kCancelled);
  if (const Status status = destination_.Open(options_.out, options_.beneath); !status.ok()) return status;
  if (const Status status = staging_.Open(destination_.fd()); !status.ok()) return status;
  writer_.StartPool();
  if (options_.durable) placer_.StartBatch();
  parts_.Start();
  return Status::Ok();
}

void ReceiveJob::FailEntry(uint32_t index, bool keep_part) {
  if (ledger_.Withdraw(index) && !keep_part) parts_.Discard(index);
}

Status ReceiveJob::Digest(uint32_t index, std::vector<uint8_t>* digests) {
  manifest::Entry entry;
  core::Fd fd;
  if (!table_.Find(index, &entry)) return Status::Of(Code::kInternal);
  if (const Status status = destination_.OpenPlaced(index, entry, &fd); !status.ok()) return status;
  manifest::ForgetCached(fd.get());
  return manifest::DigestChunks(fd.get(), entry.size, stopped_, digests);
}

Status ReceiveJob::Distrust(uint32_t index) {
  manifest::Entry entry;
  if (!table_.Find(index, &entry)) return Status::Of(Code::kInternal);
  return destination_.MarkDamaged(index, entry);
}

Status ReceiveJob::Finish() {
  const std::scoped_lock call(calls_);
  if (options_.to_stdout || stopped_.load()) return Status::Ok();
  destination_.FinishDirectories([this](uint32_t index, Status status) {
    if (ledger_.StateOf(index) == ReceiveLedger::State::kFailed) return;  // reported when it could not be created
    ledger_.AddProblem(index, status);
  });
  return options_.durable ? platform::SyncFileSystem(destination_.fd()) : Status::Ok();
}

void ReceiveJob::Stop() {
  stopped_ = true;
  // No more lanes arrive; a call in progress ends soon.
  limiter_.Stop();
  const std::scoped_lock call(calls_);
  if (std::exchange(closed_, true)) return;
  lanes_.Shutdown();
  writer_.StopPool();
  lanes_.Join();
  placer_.Stop();
  parts_.Stop();
  writer_.Close();
  staging_.Close();
  destination_.CloseDirectories();
}

}  // namespace keibi::receive
