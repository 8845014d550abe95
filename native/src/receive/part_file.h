// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/fd.h"
#include "core/status.h"
#include "disk/file_version.h"
#include "manifest/bitmap.h"
#include "receive/staging.h"

namespace keibi::receive {

// The file that a part belongs to (PROTOCOL 7): a part of another version is useless.
struct PartIdentity {
  std::string path;  // relative to the destination
  disk::FileVersion version;
  bool sparse = false;  // how it is stored
};

// A file of more than one chunk while it is received: KEY.data in the staging folder and the bitmap of its chunks,
// KEY.map:
//
//   "KDBM" 4 | version 2 | synced 1 | 0 2 | size 8 | mtime 8 | chunk bytes 4 | boot id 16 | data bytes 8 | bitmap |
//   SHA-256 of all before 32
//
// A bit is set only after its chunk was written. That survives kill -9, since the page cache does. After a restart of
// the machine a map is trusted only if it is `synced`: saved by an orderly stop, after fdatasync. KEY.data is as long
// as the data written to it, at least `data bytes`; Complete sets its full length. A length set earlier could outlive
// the bytes in a power cut. Every version keeps magic, version and digest in their places. Any thread.
class PartFile {
 public:
  // kOther: a part of other content, now removed. kNewer: a later KeibiDrop wrote the map; both files stay as they are.
  enum class Found { kNothing, kRest, kOther, kNewer };

  PartFile(const Staging& staging, PartIdentity identity);

  // Loads the rest of an earlier run. Call before the first Write.
  Found Load();

  // The result for a chunk. A repeated chunk, a chunk that another thread is writing, and one after the end are
  // ignored. kLast is returned once, to the writer of the last missing chunk.
  enum class Written { kIgnored, kNew, kLast };

  // Writes one chunk, then sets its bit. kDiskFull, kDestinationUnusable.
  core::Status Write(uint32_t chunk, const uint8_t* data, size_t bytes, Written* written);

  // Sets the bits of `chunks` chunks that are all zeros and makes them a hole in the file. Chunks that are held or
  // being written stay as they are; `new_bytes` counts the others.
  core::Status LeaveHole(uint32_t chunk, uint32_t chunks, uint64_t* new_bytes, Written* written);

  // Saves the bitmap if it changed since the last save; `sync` first makes the data durable.
  core::Status Save(bool sync);

  // Applies mode and mtime; then the file can be renamed from DataName(), and Forget() drops the map. kCancelled after
  // Discard.
  core::Status Complete(mode_t mode);
  void Forget();   // the map only
  void Discard();  // both

  manifest::Bitmap held() const;
  uint64_t size() const { return identity_.version.size; }
  const std::string& DataName() const { return data_name_; }

 private:
  struct Map {
    uint64_t data_bytes;
    manifest::Bitmap bitmap;
  };

  core::Status OpenData();
  core::Status CreateData();
  core::Status WriteData(int fd, const uint8_t* data, size_t bytes, uint64_t offset) const;
  std::optional<Map> ReadMap(Found* otherwise);

  const Staging& staging_;
  const PartIdentity identity_;
  std::string data_name_, map_name_;
  std::mutex map_mutex_;  // held while the map is written or dropped; taken before mutex_
  bool ended_ = false;    // completed or discarded: no map may appear again
  mutable std::mutex mutex_;
  std::shared_ptr<core::Fd> data_;        // a write in progress keeps it open
  manifest::Bitmap bitmap_;               // empty until there is data
  bool resumed_ = false;                  // the data file may hold anything where a bit is not set
  std::unordered_set<uint32_t> writing_;  // chunks being written
  uint32_t saved_ = 0;                    // chunks in the map on disk
};

}  // namespace keibi::receive
