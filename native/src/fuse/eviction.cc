// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <tuple>
#include <vector>

#include "fuse/content.h"
#include "mount/host_messages.h"

// The disk space of the cache: closed files are evicted first, then the least recently read parts of open ones.
namespace keibi::fuse {
namespace {

// Open files keep at least this much, whatever the limit is: the prefetched and the most recently read blocks.
constexpr uint64_t kLeastOpenBytes = mount::rules::kLeastOpenBytes;
// Free a part of the limit at once, so that the next block does not exceed it again.
constexpr uint64_t kFreedPart = 8;

}  // namespace

void Contents::Used(const Content& content, uint32_t first, uint64_t end) { content.uses->Touch(first, end, ++uses_); }

void Contents::Grown(const Content& content) {
  const uint64_t most = std::max(most_bytes_, kLeastOpenBytes);
  if (Count(content) > most) Reduce(most - most / kFreedPart);
}

bool Contents::Hold(const Content& content) {
  const std::scoped_lock lock(reducing_);
  const bool whole = content.file->HasAll(0, content.file->blocks());
  if (whole) content.kept = true;
  return whole;
}

bool Contents::MakeRoom() {
  const uint64_t before = Total();
  Reduce(std::min(kLeastOpenBytes, before / 2));
  return Total() < before;
}

uint64_t Contents::Count(const Content& content) {
  const uint64_t bytes = content.file->disk_bytes();
  const std::scoped_lock lock(mutex_);
  open_bytes_ += bytes - content.bytes;
  content.bytes = bytes;
  return open_bytes_ + closed_bytes_;
}

uint64_t Contents::Total() {
  const std::scoped_lock lock(mutex_);
  return open_bytes_ + closed_bytes_;
}

void Contents::Reduce(uint64_t most) {
  // Destroyed without a lock: one of them may have been closed meanwhile.
  std::vector<std::shared_ptr<Content>> open;
  const std::scoped_lock reducing(reducing_);
  {
    const std::scoped_lock lock(mutex_);
    while (!closed_.empty() && open_bytes_ + closed_bytes_ > most) Drop(closed_.begin());
    if (open_bytes_ + closed_bytes_ <= most) return;
    for (const auto& [_, content] : open_) {
      if (auto still = content.lock(); still != nullptr && !still->kept) open.push_back(std::move(still));
    }
  }
  std::vector<std::tuple<uint64_t, Content*, uint32_t>> parts;
  for (const auto& content : open) {
    for (uint32_t part = 0; part < content->uses->parts(); part++) {
      if (const uint64_t used = content->uses->used(part); used > 0) parts.emplace_back(used, content.get(), part);
    }
  }
  std::sort(parts.begin(), parts.end());
  for (const auto& [_, content, part] : parts) {
    if (!content->file->Evict(content->uses->first(part), content->uses->count(part))) continue;
    content->uses->Forget(part);
    if (Count(*content) <= most) return;
  }
}

}  // namespace keibi::fuse
