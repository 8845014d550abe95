// SPDX-License-Identifier: MPL-2.0
#include "manifest/entry_table.h"

#include <algorithm>
#include <mutex>

#include "core/limits.h"

namespace keibi::manifest {

using core::Code;
using core::Status;

uint32_t EntryTable::Append(const Entry& entry) {
  const std::unique_lock lock(mutex_);
  if (count_ >= core::kMaxEntries) return kTop;
  if (closed_ == count_) {
    blocks_.push_back(std::make_unique<Block>());
    blocks_.back()->first = count_;
    blocks_.back()->bytes.reserve(kPageTargetBytes + kMaxEntryBytes);
  }
  Block& block = *blocks_.back();
  block.offsets.push_back(static_cast<uint32_t>(block.bytes.size()));
  AppendEntry(&block.bytes, entry);
  return count_++;
}

size_t EntryTable::OpenPageBytes() const {
  const std::shared_lock lock(mutex_);
  return closed_ < count_ ? blocks_.back()->bytes.size() : 0;
}

EntryTable::Page EntryTable::ClosePage() {
  const std::unique_lock lock(mutex_);
  if (closed_ == count_) return {};
  Block& block = *blocks_.back();
  // Only the walk has seen this page, so it may move. A small offer need not hold memory for a large one.
  block.bytes.shrink_to_fit();
  closed_ = count_;
  return {block.first, static_cast<uint32_t>(block.offsets.size()), block.bytes.data(), block.bytes.size()};
}

Status EntryTable::AddPage(const uint8_t* bytes, size_t size, uint32_t first, uint32_t count) {
  const std::unique_lock lock(mutex_);
  if (size > core::kMaxPageBytes || count > core::kMaxEntries - count_) return Status::Of(Code::kLimitExceeded);
  if (first != count_ || count == 0) return Status::Of(Code::kHandshakeMalformed);
  if (count > size / kLeastEntryBytes) return Status::Of(Code::kHandshakeMalformed);

  auto block = std::make_unique<Block>();
  block->first = first;
  block->bytes.assign(bytes, bytes + size);
  block->offsets.reserve(count);
  blocks_.push_back(std::move(block));
  Block& added = *blocks_.back();
  Status status = Status::Ok();
  size_t offset = 0;
  for (uint32_t i = 0; i < count && status.ok(); i++) {
    Entry entry, parent;
    added.offsets.push_back(static_cast<uint32_t>(offset));
    status = ParseEntry(added.bytes.data(), added.bytes.size(), &offset, &entry);
    if (status.ok() && entry.parent == kTop && entry.name.starts_with(kStagingName))
      status = Status::Of(Code::kPathRefused);
    if (!status.ok() || entry.parent == kTop) continue;
    const bool known = entry.parent < first + i && FindLocked(entry.parent, &parent);
    if (!known || parent.type != EntryType::kDirectory) status = Status::Of(Code::kPathRefused);
  }
  if (status.ok() && offset != size) status = Status::Of(Code::kHandshakeMalformed);
  if (!status.ok()) {
    blocks_.pop_back();
    return status;
  }
  count_ += count;
  return status;
}

bool EntryTable::FindLocked(uint32_t index, Entry* entry) const {
  auto after = std::upper_bound(blocks_.begin(), blocks_.end(), index,
                                [](uint32_t wanted, const auto& block) { return wanted < block->first; });
  if (after == blocks_.begin()) return false;
  const Block& block = **std::prev(after);
  if (index - block.first >= block.offsets.size()) return false;
  size_t offset = block.offsets[index - block.first];
  return ParseEntry(block.bytes.data(), block.bytes.size(), &offset, entry).ok();
}

bool EntryTable::Find(uint32_t index, Entry* entry) const {
  const std::shared_lock lock(mutex_);
  return FindLocked(index, entry);
}

uint32_t EntryTable::size() const {
  const std::shared_lock lock(mutex_);
  return count_;
}

std::string EntryTable::PathOf(uint32_t index) const {
  std::vector<std::string_view> names;
  const std::shared_lock lock(mutex_);
  for (Entry entry; index != kTop && names.size() <= core::kMaxDepth && FindLocked(index, &entry);
       index = entry.parent) {
    names.push_back(entry.name);
  }
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path.empty()) path += '/';
    path += *name;
  }
  return path;
}

}  // namespace keibi::manifest
