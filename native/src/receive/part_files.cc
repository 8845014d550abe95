// SPDX-License-Identifier: MPL-2.0
#include "receive/part_files.h"

#include <chrono>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "manifest/bitmap.h"

namespace keibi::receive {

using core::Code;
using core::Status;

namespace {

constexpr std::chrono::seconds kSaveEvery{1};
// An honest sender has at most one chunk on each lane, so few files begun at once.
constexpr size_t kMostParts = 1024;
constexpr uint64_t kMostBitmapBytes = uint64_t{64} << 20;  // for all parts; 17 files of kMaxSparseBytes need 34 MiB

}  // namespace

void PartFiles::Start() {
  saver_ = std::thread([this] { RunSaver(); });
}

void PartFiles::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    stopping_.notify_all();
  }
  if (saver_.joinable()) saver_.join();
  Save(/*sync=*/true);
  const std::scoped_lock lock(mutex_);
  parts_.clear();
}

PartFile::Found PartFiles::Resume(uint32_t index, const manifest::Entry& entry, std::shared_ptr<PartFile>* part) {
  const std::shared_ptr<PartFile> earlier = Create(index, entry);
  const PartFile::Found found = earlier->Load();
  if (found != PartFile::Found::kRest) return found;
  *part = earlier;
  const std::scoped_lock lock(mutex_);
  parts_[index] = earlier;
  resumed_++;
  return found;
}

Status PartFiles::Take(uint32_t index, const manifest::Entry& entry, std::shared_ptr<PartFile>* part) {
  const std::scoped_lock lock(mutex_);
  if (ledger_.StateOf(index) != ReceiveLedger::State::kWanted) return Status::Ok();
  const auto found = parts_.find(index);
  if (found != parts_.end()) {
    *part = found->second;
    return Status::Ok();
  }
  if (parts_.size() >= kMostParts + resumed_) return Status::Of(Code::kLimitExceeded);
  uint64_t bitmap_bytes = manifest::ChunksOf(entry.size) / 8;
  for (const auto& [begun, other] : parts_) bitmap_bytes += manifest::ChunksOf(other->size()) / 8;
  if (bitmap_bytes > kMostBitmapBytes) return Status::Of(Code::kLimitExceeded);
  *part = Create(index, entry);
  parts_[index] = *part;
  return Status::Ok();
}

void PartFiles::Drop(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  parts_.erase(index);
}

void PartFiles::Discard(uint32_t index) {
  std::shared_ptr<PartFile> part;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = parts_.find(index); found != parts_.end()) {
      part = std::move(found->second);
      parts_.erase(found);
    }
  }
  if (part) part->Discard();
}

std::shared_ptr<PartFile> PartFiles::Create(uint32_t index, const manifest::Entry& entry) const {
  return std::make_shared<PartFile>(staging_,
                                    PartIdentity{table_.PathOf(index), {entry.size, entry.mtime_ns}, entry.sparse});
}

void PartFiles::Save(bool sync) {
  std::vector<std::shared_ptr<PartFile>> parts;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [index, part] : parts_) parts.push_back(part);
  }
  // A map that cannot be saved costs time at a resume, but no data; the saver retries in the next second.
  for (const auto& part : parts) (void)part->Save(sync);
}

void PartFiles::RunSaver() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, kSaveEvery, [&] { return stopped_; })) {
    lock.unlock();
    Save(/*sync=*/false);
    lock.lock();
  }
}

}  // namespace keibi::receive
