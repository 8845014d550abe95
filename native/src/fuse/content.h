// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/fd.h"
#include "mount/block_lru.h"
#include "mount/inode_table.h"
#include "mount/overlay_file.h"
#include "mount/read_ahead.h"
#include "remote/cache_file.h"

namespace keibi::fuse {

// One version of one file, while it is open.
struct Content {
  std::string key;
  std::string path;
  std::shared_ptr<remote::CacheFile> file;
  std::unique_ptr<mount::BlockLru> uses;
  mutable uint64_t bytes = 0;              // disk space, as Contents last counted it
  mutable std::atomic<bool> kept = false;  // evict nothing of it: the other peer may no longer have this version

  bool Is(const mount::Attributes& attributes) const {
    return file->size() == attributes.size && file->mtime_ns() == attributes.mtime_ns;
  }
};

// An open file of the kernel's.
struct Handle {
  std::mutex mutex;
  std::shared_ptr<Content> content;
  std::shared_ptr<mount::OverlayFile> overlay;  // set if the last read came from the overlay, not from `content`
  mount::ReadAhead ahead;
  std::shared_ptr<Content> before;  // the shorter version read before; `content` begins with it, if it is the same file
  bool counted = false;             // by Passthrough
  bool writes = false;              // opened for writing, perhaps for reading too
  bool read = false;                // a program has seen bytes of this content, or overlay
  uint64_t taken = 0;               // Locking::Taken (locking.h) at the last read; when it rises, `read` starts over
};

// The name of a version in the cache: unique over all mounts of the share.
std::string KeyOf(const std::string& path, uint64_t size, int64_t mtime_ns);

// The cache: open files, and closed ones as long as there is room. Any thread.
class Contents {
 public:
  using Released = std::function<void(const std::string& key)>;

  // Takes ownership of the cache's directory, with what an earlier mount has kept there. `most_bytes`: the limit of
  // disk space; open files may exceed it (eviction.cc).
  Contents(int directory, uint64_t most_bytes, Released released);

  // Whether it is closed and cached to its end.
  bool HasWhole(const std::string& path, const mount::Attributes& attributes);
  // `content` must be null.
  core::Status Open(const std::string& path, const mount::Attributes& attributes, std::shared_ptr<Content>* content);
  // Blocks [first, end) are being read, or will be.
  void Used(const Content& content, uint32_t first, uint64_t end);
  // Call when the content may have grown: evicts the least recently used parts if the cache is too large.
  void Grown(const Content& content);
  // Evicts nothing of it as long as it is open. True if it is cached to its end.
  bool Hold(const Content& content);
  // Call when the disk is full: evicts what it can. False if there is nothing to evict.
  bool MakeRoom();
  // Takes over an overlay's file as this version, if it is whole and that version is not open.
  void Adopt(uint64_t ino, const std::string& path, const std::shared_ptr<mount::OverlayFile>& overlay);
  // Moves the cached content of a renamed file to its new name.
  void Renamed(uint64_t ino, const std::string& from, const std::string& to, const mount::Attributes& attributes);
  // Whether the kernel may keep its pages: true if the last open was of the same version or overlay.
  bool SameAsBefore(uint64_t ino, const std::string& key);
  void Forget(uint64_t ino);

 private:
  struct Closed {
    std::string key;
    uint64_t bytes;
    bool whole;
  };

  void TakeKept();
  void Close(const Content* last);
  uint64_t Count(const Content& content);  // returns the total of all contents
  uint64_t Total();
  void Reduce(uint64_t most);
  // All with mutex_ held.
  void Keep(const std::string& key, const remote::CacheFile& file);
  void Drop(std::list<Closed>::iterator closed);
  void DropMore();

  const core::Fd directory_;
  const uint64_t most_bytes_;
  const Released released_;
  std::mutex reducing_;  // before mutex_
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Content>> open_;
  std::unordered_map<uint64_t, std::string> before_;  // keys
  std::list<Closed> closed_;                          // longest closed first
  std::unordered_map<std::string, std::list<Closed>::iterator> closed_at_;
  uint64_t closed_bytes_ = 0;
  uint64_t open_bytes_ = 0;
  std::atomic<uint64_t> uses_ = 0;
};

}  // namespace keibi::fuse
