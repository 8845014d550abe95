// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::stream {

// What a cached file comes in: small enough that a random read over a long link is one round trip and little more.
inline constexpr uint32_t kCacheBlockBytes = uint32_t{64} << 10;

// Which content a cached file holds. Who names it by a key sees to it that another content has another key.
struct CacheIdentity {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
};

// A file of another peer, as far as it is here: KEY.data, which is as long as the file and has each block at its place,
// and KEY.map, which says of which blocks that is true. Processes share the map by mmap(2): the Peer that receives
// blocks and the mount host that reads them exchange nothing else about them.
//
//   "KDMC" 4 | version 4 | size 8 | mtime 8 | block bytes 4 | blocks 4 | evictions 4 | 0 28 | bitmap, words of 64 bits
//
// In the byte order of the machine, which it never leaves. A bit is set after its block was written; both outlive
// kill -9 in the page cache, and no more is promised: a cache is dropped after a restart of the machine. Any thread.
class CacheFile {
 public:
  // Makes both files in `directory`, or takes those that are there. Whatever does not fit the identity is replaced.
  // kLimitExceeded, kDiskFull, kDestinationUnusable.
  static core::Status Open(int directory, const std::string& key, const CacheIdentity& identity,
                           std::shared_ptr<CacheFile>* file);

  // Makes them of FROM.data, which is whole, as long as the identity says, and nobody's any more.
  static core::Status Adopt(int directory, const std::string& from, const std::string& key,
                            const CacheIdentity& identity, std::shared_ptr<CacheFile>* file);

  // What is known of both files without opening them for use; false if they are not a whole pair that Open would take.
  struct Kept {
    uint64_t disk_bytes = 0;
    bool whole = false;   // all blocks are here; not told of a file of more than 64
    int64_t used_ns = 0;  // when Touch was called last, or it was written
  };
  static bool Look(int directory, const std::string& key, Kept* kept);
  // It was used now, for Look.
  static void Touch(int directory, const std::string& key);

  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  ~CacheFile();

  uint64_t size() const { return identity_.size; }
  int64_t mtime_ns() const { return identity_.mtime_ns; }
  uint32_t blocks() const { return blocks_; }

  bool Has(uint32_t block) const;
  // The first of [first, first + count) that is not here, or first + count.
  uint32_t FirstMissing(uint32_t first, uint32_t count) const;
  bool HasAll(uint32_t first, uint32_t count) const { return FirstMissing(first, count) == first + count; }

  // Writes whole blocks from `first` on, then sets their bits; only the last one of the file may be shorter.
  // kSizeMismatch for anything else; kDiskFull, kDestinationUnusable.
  core::Status Write(uint32_t first, const uint8_t* bytes, size_t length);

  // Reads within the file, if all of it is here: false if not, or if some of it was just evicted.
  bool Read(uint64_t offset, uint8_t* to, size_t length, core::Status* status) const;

  // Gives the disk the room of some blocks back. False, and nothing happens, while somebody writes one of them.
  bool Evict(uint32_t first, uint32_t count);

  int data_fd() const { return data_.get(); }
  uint64_t disk_bytes() const;  // of both files

 private:
  struct Map;

  CacheFile(const CacheIdentity& identity, uint32_t blocks) : identity_(identity), blocks_(blocks) {}
  core::Status OpenMap(int directory, const std::string& name);
  core::Status OpenData(int directory, const std::string& name);
  core::Status ReadData(uint64_t offset, uint8_t* to, size_t length) const;
  bool IsHead(const Map& map) const;
  void SetAll(uint32_t first, uint32_t end);
  bool Lock(short how, bool wait, uint64_t start, uint64_t bytes) const;
  size_t MapBytes() const;

  const CacheIdentity identity_;
  const uint32_t blocks_;
  core::Fd data_;
  Map* map_ = nullptr;
};

}  // namespace keibi::stream
