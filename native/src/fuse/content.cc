// SPDX-License-Identifier: MPL-2.0
#include "fuse/content.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sha256.h"
#include "mount/host_messages.h"
#include "mount/host_protocol.h"

namespace keibi::fuse {

using remote::CacheFile;

namespace {

constexpr std::string_view kData = ".data", kMap = ".map";

// The key of a cache file's name; empty if the name is not one of ours.
std::string KeyOfName(std::string_view name, std::string_view end) {
  if (name.size() != mount::rules::kKeyBytes + end.size() || !name.ends_with(end)) return {};
  const std::string_view key = name.substr(0, mount::rules::kKeyBytes);
  return key.find_first_not_of("0123456789abcdef") == std::string_view::npos ? std::string(key) : std::string();
}

}  // namespace

std::string KeyOf(const std::string& path, uint64_t size, int64_t mtime_ns) {
  mount::Writer text;
  text.Number(size).Number(static_cast<uint64_t>(mtime_ns)).Rest(path);
  const auto digest = core::Sha256({reinterpret_cast<const char*>(text.bytes().data()), text.bytes().size()});
  constexpr char kDigits[] = "0123456789abcdef";
  std::string key;
  for (size_t i = 0; i < mount::rules::kKeyBytes / 2; i++) {
    key += kDigits[digest[i] >> 4];
    key += kDigits[digest[i] & 15];
  }
  return key;
}

Contents::Contents(int directory, uint64_t most_bytes, Released released)
    : directory_(directory), most_bytes_(most_bytes), released_(std::move(released)) {
  TakeKept();
}

// Removes everything that is not a whole pair of files, such as an overlay of a host that was killed.
void Contents::TakeKept() {
  DIR* const directory = fdopendir(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory == nullptr) return;
  std::vector<std::pair<int64_t, Closed>> kept;
  std::vector<std::string> useless;
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    const std::string key = KeyOfName(name, kMap), of_data = KeyOfName(name, kData);
    CacheFile::Kept found;
    if (!key.empty() && CacheFile::Look(directory_.get(), key, &found)) {
      kept.push_back({found.used_ns, {key, found.disk_bytes, found.whole}});
    } else if (!key.empty() || (!of_data.empty() && !CacheFile::Look(directory_.get(), of_data, &found))) {
      useless.push_back(name);
    }
  }
  closedir(directory);
  for (const std::string& name : useless) unlinkat(directory_.get(), name.c_str(), 0);
  std::sort(kept.begin(), kept.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
  for (const auto& [used, closed] : kept) {
    closed_.push_back(closed);
    closed_at_[closed.key] = std::prev(closed_.end());
    closed_bytes_ += closed.bytes;
  }
  DropMore();
}

bool Contents::HasWhole(const std::string& path, const mount::Attributes& attributes) {
  const std::string key = KeyOf(path, attributes.size, attributes.mtime_ns);
  const std::scoped_lock lock(mutex_);
  const auto kept = closed_at_.find(key);
  return kept != closed_at_.end() && kept->second->whole;
}

core::Status Contents::Open(const std::string& path, const mount::Attributes& attributes,
                            std::shared_ptr<Content>* content) {
  const std::string key = KeyOf(path, attributes.size, attributes.mtime_ns);
  const std::scoped_lock lock(mutex_);
  std::weak_ptr<Content>& known = open_[key];
  *content = known.lock();
  if (*content != nullptr) return core::Status::Ok();
  std::shared_ptr<CacheFile> file;
  const remote::CacheIdentity identity{attributes.size, attributes.mtime_ns};
  if (const core::Status status = CacheFile::Open(directory_.get(), key, identity, &file); !status.ok()) {
    open_.erase(key);
    return status;
  }
  if (const auto kept = closed_at_.find(key); kept != closed_at_.end()) {
    closed_bytes_ -= kept->second->bytes;
    closed_.erase(kept->second);
    closed_at_.erase(kept);
  }
  auto uses = std::make_unique<mount::BlockLru>(file->blocks());
  const uint64_t bytes = file->disk_bytes();
  open_bytes_ += bytes;
  *content = std::shared_ptr<Content>(new Content{key, path, std::move(file), std::move(uses), bytes},
                                      [this](const Content* last) {
                                        Close(last);
                                        delete last;
                                      });
  known = *content;
  return core::Status::Ok();
}

void Contents::Close(const Content* last) {
  const std::scoped_lock lock(mutex_);
  open_bytes_ -= last->bytes;
  const auto found = open_.find(last->key);
  // Another thread may have opened it meanwhile.
  if (found == open_.end() || !found->second.expired()) return;
  open_.erase(found);
  Keep(last->key, *last->file);
  DropMore();
  // While the lock is held, so that a later open sends its requests after the release.
  released_(last->key);
}

void Contents::Adopt(uint64_t ino, const std::string& path, const std::shared_ptr<mount::OverlayFile>& overlay) {
  constexpr uint64_t kMostCopiedBytes = uint64_t{64} << 20;
  const bool whole = overlay->Complete(kMostCopiedBytes);
  const auto [size, mtime_ns] = overlay->version();
  const std::string key = KeyOf(path, size, mtime_ns);
  const std::scoped_lock lock(mutex_);
  if (open_.contains(key)) return;
  // Times can be set back: the closed file under this key may have other content.
  if (const auto kept = closed_at_.find(key); kept != closed_at_.end()) Drop(kept->second);
  if (!whole) return;
  std::shared_ptr<CacheFile> file;
  if (!CacheFile::Adopt(directory_.get(), overlay->token(), key, {size, mtime_ns}, &file).ok()) return;
  overlay->LetGo();
  if (std::string& before = before_[ino]; before == overlay->token()) before = key;
  Keep(key, *file);
  DropMore();
}

void Contents::Renamed(uint64_t ino, const std::string& from, const std::string& to,
                       const mount::Attributes& attributes) {
  const std::string before = KeyOf(from, attributes.size, attributes.mtime_ns);
  const std::string after = KeyOf(to, attributes.size, attributes.mtime_ns);
  const std::scoped_lock lock(mutex_);
  const auto kept = closed_at_.find(before);
  if (before == after || kept == closed_at_.end() || open_.contains(after)) return;
  if (const auto other = closed_at_.find(after); other != closed_at_.end()) Drop(other->second);
  // The data first: a map must never exist without its data.
  for (const std::string_view end : {kData, kMap}) {
    if (renameat(directory_.get(), (before + std::string(end)).c_str(), directory_.get(),
                 (after + std::string(end)).c_str()) != 0)
      return;
  }
  kept->second->key = after;
  closed_at_[after] = kept->second;
  closed_at_.erase(kept);
  if (std::string& seen = before_[ino]; seen == before) seen = after;
}

void Contents::Keep(const std::string& key, const CacheFile& file) {
  const uint64_t bytes = file.disk_bytes();
  closed_.push_back({key, bytes, file.HasAll(0, file.blocks())});
  closed_at_[key] = std::prev(closed_.end());
  closed_bytes_ += bytes;
  CacheFile::Touch(directory_.get(), key);
}

void Contents::DropMore() {
  while (closed_bytes_ > most_bytes_) Drop(closed_.begin());
}

void Contents::Drop(std::list<Closed>::iterator closed) {
  // The map first: it must never name data that is gone.
  for (const std::string_view end : {kMap, kData})
    unlinkat(directory_.get(), (closed->key + std::string(end)).c_str(), 0);
  closed_bytes_ -= closed->bytes;
  closed_at_.erase(closed->key);
  closed_.erase(closed);
}

bool Contents::SameAsBefore(uint64_t ino, const std::string& key) {
  const std::scoped_lock lock(mutex_);
  std::string& before = before_[ino];
  const bool same = before == key;
  before = key;
  return same;
}

void Contents::Forget(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  before_.erase(ino);
}

}  // namespace keibi::fuse
