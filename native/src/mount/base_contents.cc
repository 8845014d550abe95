// SPDX-License-Identifier: MPL-2.0
#include "mount/base_contents.h"

#include <algorithm>
#include <cerrno>

namespace keibi::mount {

using remote::CacheFile;
using remote::kCacheBlockBytes;

namespace {

constexpr size_t kMostContents = 8;

}  // namespace

void BaseContents::Add(const FileVersion& of, std::shared_ptr<CacheFile> content) {
  if (!contents_.empty() && contents_.back().first == of) return;
  if (contents_.size() >= kMostContents) contents_.erase(contents_.begin());
  contents_.emplace_back(of, std::move(content));
}

std::shared_ptr<CacheFile> BaseContents::Newest(const FileVersion& of) const {
  return !contents_.empty() && contents_.back().first == of ? contents_.back().second : nullptr;
}

bool BaseContents::Read(uint64_t from, uint64_t end, uint8_t* to, int* error) const {
  core::Status status;
  while (from < end) {
    const uint64_t stop = std::min(end, (from / remote::kCacheBlockBytes + 1) * remote::kCacheBlockBytes);
    bool found = false;
    for (auto one = contents_.rbegin(); one != contents_.rend() && !found; ++one) {
      // Read a long run at once if it is cached, else block by block.
      for (const uint64_t until : {end, stop}) {
        if (!one->second->Read(from, to, until - from, &status)) continue;
        if (!status.ok()) *error = EIO;
        to += until - from;
        from = until;
        found = true;
        break;
      }
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace keibi::mount
