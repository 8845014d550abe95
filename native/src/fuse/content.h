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
#include "mount/draft.h"
#include "mount/read_ahead.h"
#include "mount/tree.h"
#include "mount/uses.h"
#include "stream/cache_file.h"

namespace keibi::fuse {

// One version of one file, while somebody has it open.
struct Content {
  std::string key;
  std::string path;
  std::shared_ptr<stream::CacheFile> file;
  std::unique_ptr<mount::Uses> uses;
  mutable uint64_t bytes = 0;              // of the disk, as Contents has counted them
  mutable std::atomic<bool> kept = false;  // all that is here of it: the other peer may have it no more

  bool Is(const mount::Attributes& attributes) const {
    return file->size() == attributes.size && file->mtime_ns() == attributes.mtime_ns;
  }
};

// An open file of the kernel's.
struct Handle {
  std::mutex mutex;
  std::shared_ptr<Content> content;
  std::shared_ptr<mount::Draft> draft;  // which was read last, and not the content
  mount::ReadAhead ahead;
  std::shared_ptr<Content> before;  // read until it grew: what `content` begins with, if it is the same file
  bool counted = false;             // by Passing
  bool writes = false;              // it was opened to be written, too
  bool read = false;                // somebody has seen bytes of this content, or draft
  uint64_t taken = 0;               // of locks (locking.h): what was read before is of no account
};

// The name of a version in the cache: nothing else has it, over all mounts of the share.
std::string KeyOf(const std::string& path, uint64_t size, int64_t mtime_ns);

// The cache: what is open of it, and what was, which is kept as long as there is room. Any thread.
class Contents {
 public:
  using Released = std::function<void(const std::string& key)>;

  // Takes the cache's directory over, with what an earlier mount has kept there. `most_bytes`: of the disk; files that
  // are open may have more (room.cc).
  Contents(int directory, uint64_t most_bytes, Released released);

  // Whether nobody has it open, and it is here to its end.
  bool HasWhole(const std::string& path, const mount::Attributes& attributes);
  // `content` is null before.
  core::Status Open(const std::string& path, const mount::Attributes& attributes, std::shared_ptr<Content>* content);
  // Blocks [first, end) are read, or will be.
  void Used(const Content& content, uint32_t first, uint64_t end);
  // More of it may have come: gives room of what was used longest ago back to the disk, if it is too much.
  void Grown(const Content& content);
  // From now on nothing of it is given back, as long as it is open: true if it is here to its end.
  bool Hold(const Content& content);
  // The disk is full: gives back what can be. False if that is nothing.
  bool MakeRoom();
  // Takes a draft's file for this version, if it is whole and nobody has that version open.
  void Adopt(uint64_t ino, const std::string& path, const std::shared_ptr<mount::Draft>& draft);
  // What is kept of a file that has another name now.
  void Renamed(uint64_t ino, const std::string& from, const std::string& to, const mount::Attributes& attributes);
  // Whether the kernel may keep the pages that it has: those of the version, or draft, it opened last.
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
  uint64_t Count(const Content& content);  // what all take then
  uint64_t Total();
  void Reduce(uint64_t most);
  // All with mutex_ held.
  void Keep(const std::string& key, const stream::CacheFile& file);
  void Drop(std::list<Closed>::iterator closed);
  void DropMore();

  const core::Fd directory_;
  const uint64_t most_bytes_;
  const Released released_;
  std::mutex reducing_;  // before mutex_
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Content>> open_;
  std::unordered_map<uint64_t, std::string> before_;  // keys
  std::list<Closed> closed_;                          // those first that were closed longest ago
  std::unordered_map<std::string, std::list<Closed>::iterator> closed_at_;
  uint64_t closed_bytes_ = 0;
  uint64_t open_bytes_ = 0;
  std::atomic<uint64_t> uses_ = 0;
};

}  // namespace keibi::fuse
