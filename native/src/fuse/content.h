// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/fd.h"
#include "mount/read_ahead.h"
#include "mount/tree.h"
#include "stream/cache_file.h"

namespace keibi::fuse {

// One version of one file, while somebody has it open.
struct Content {
  std::string key;
  std::string path;
  std::shared_ptr<stream::CacheFile> file;

  bool Is(const mount::Attributes& attributes) const {
    return file->size() == attributes.size && file->mtime_ns() == attributes.mtime_ns;
  }
};

// An open file of the kernel's.
struct Handle {
  std::mutex mutex;
  std::shared_ptr<Content> content;
  mount::ReadAhead ahead;
  bool read = false;  // somebody has seen bytes of this content
};

// The name of a version in the cache: nothing else has it, over all mounts of the share.
std::string KeyOf(const std::string& path, uint64_t size, int64_t mtime_ns);

// What is open of the cache. Any thread.
class Contents {
 public:
  using Released = std::function<void(const std::string& key)>;

  // Takes the cache's directory over.
  explicit Contents(int directory, Released released) : directory_(directory), released_(std::move(released)) {}

  // `content` is null before.
  core::Status Open(const std::string& path, const mount::Attributes& attributes, std::shared_ptr<Content>* content);
  // Whether the kernel may keep the pages that it has: those of the version it opened last.
  bool SameAsBefore(uint64_t ino, const Content& content);
  void Forget(uint64_t ino);

 private:
  const core::Fd directory_;
  const Released released_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Content>> open_;
  std::unordered_map<uint64_t, std::string> before_;  // keys
};

}  // namespace keibi::fuse
