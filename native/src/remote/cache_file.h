// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::remote {

// The unit of a cached file: small enough that a random read over a long link costs little more than one round trip.
inline constexpr uint32_t kCacheBlockBytes = uint32_t{64} << 10;

// The version that a cached file holds. The caller that chooses a key must use another key for another version.
struct CacheIdentity {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
};

// The cached part of another peer's file. KEY.data is as long as the file and has each block at its offset; KEY.map
// says which blocks are present. Processes share the map by mmap(2): the daemon that receives blocks and the mount host
// that reads them exchange nothing else about them.
//
//   "KDMC" 4 | version 4 | size 8 | mtime 8 | block bytes 4 | blocks 4 | evictions 4 | 0 28 | bitmap, words of 64 bits
//
// In the machine's byte order, since the file never leaves it. A bit is set after its block was written. Both survive
// kill -9 in the page cache but no restart: the cache is dropped when the machine restarts. Any thread.
class CacheFile {
 public:
  // Creates both files in `directory`, or opens existing ones. Replaces whatever does not match the identity.
  // kLimitExceeded, kDiskFull, kDestinationUnusable.
  static core::Status Open(int directory, const std::string& key, const CacheIdentity& identity,
                           std::shared_ptr<CacheFile>* file);

  // Creates the pair from FROM.data, which is whole, as long as the identity says, and no longer used elsewhere.
  static core::Status Adopt(int directory, const std::string& from, const std::string& key,
                            const CacheIdentity& identity, std::shared_ptr<CacheFile>* file);

  // Describes both files without opening them for use; false if they are not a whole pair that Open would accept.
  struct Kept {
    uint64_t disk_bytes = 0;
    bool whole = false;   // all blocks are present; false for a file of more than 64 blocks
    int64_t used_ns = 0;  // when Touch was last called or the file was written
  };
  static bool Look(int directory, const std::string& key, Kept* kept);
  // Records a use now, for Look.
  static void Touch(int directory, const std::string& key);

  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  ~CacheFile();

  uint64_t size() const { return identity_.size; }
  int64_t mtime_ns() const { return identity_.mtime_ns; }
  uint32_t blocks() const { return blocks_; }

  bool Has(uint32_t block) const;
  // The first block of [first, first + count) that is missing, or first + count.
  uint32_t FirstMissing(uint32_t first, uint32_t count) const;
  bool HasAll(uint32_t first, uint32_t count) const { return FirstMissing(first, count) == first + count; }

  // Writes whole blocks starting at `first`, then sets their bits; only the file's last block may be shorter.
  // kSizeMismatch for anything else; kDiskFull, kDestinationUnusable.
  core::Status Write(uint32_t first, const uint8_t* bytes, size_t length);

  // Reads within the file. False if a block is missing or was just evicted.
  bool Read(uint64_t offset, uint8_t* to, size_t length, core::Status* status) const;

  // Frees the disk space of some blocks. Returns false and does nothing while one of them is being written.
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

}  // namespace keibi::remote
