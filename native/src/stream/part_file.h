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
#include "stream/bitmap.h"
#include "stream/staging.h"

namespace keibi::stream {

// Which content a part belongs to (PROTOCOL 7): a part of another size or mtime is of no use.
struct Identity {
  std::string path;  // relative to the destination
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  bool sparse = false;  // how it is stored, not which content it is
};

// A file of more than one chunk while it is received: KEY.data in the staging folder and the bitmap of its chunks,
// KEY.map:
//
//   "KDBM" 4 | version 2 | synced 1 | 0 2 | size 8 | mtime 8 | chunk bytes 4 | boot id 16 | data bytes 8 | bitmap |
//   SHA-256 of all before 32
//
// A bit is set only after its chunk was written. That survives kill -9, since the page cache does; after a restart of
// the machine a map is believed only if it is `synced`: saved by an orderly stop, after fdatasync. KEY.data is as long
// as what was written to it, at least `data bytes`, and gets its full length in Complete: a length that came before the
// bytes could outlive them in a power cut. Any thread.
class PartFile {
 public:
  enum class Found { kNothing, kRest, kOther };  // kOther: a part of content that has changed since, now removed

  PartFile(const Staging& staging, Identity identity);

  // Loads what an earlier run left. To be called before the first Write.
  Found Load();

  // What became of a chunk: a repeated one, one being written just now by another thread, and one that comes after the
  // end are ignored. kLast is told once, to whoever wrote the last chunk that was missing.
  enum class Written { kIgnored, kNew, kLast };

  // Writes one chunk, then sets its bit. kDiskFull, kDestinationUnusable.
  core::Status Write(uint32_t chunk, const uint8_t* data, size_t bytes, Written* written);

  // Sets the bits of `chunks` chunks that are nothing but zeros, and sees to it that they are: a hole in the file.
  // Those held or being written are left as they are; `new_bytes` are of the others.
  core::Status LeaveHole(uint32_t chunk, uint32_t chunks, uint64_t* new_bytes, Written* written);

  // Saves the bitmap if it changed since the last time; `sync` also the data, for good.
  core::Status Save(bool sync);

  // Applies mode and mtime; the data file is then ready to be renamed from DataName(), Forget() drops the map.
  // kCancelled after Discard.
  core::Status Complete(mode_t mode);
  void Forget();   // the map only
  void Discard();  // both

  Bitmap held() const;
  uint64_t size() const { return identity_.size; }
  const std::string& DataName() const { return data_name_; }

 private:
  struct Map {
    uint64_t data_bytes;
    Bitmap bitmap;
  };

  core::Status OpenData();
  core::Status CreateData();
  core::Status WriteData(int fd, const uint8_t* data, size_t bytes, uint64_t offset) const;
  std::optional<Map> ReadMap(bool* other);

  const Staging& staging_;
  const Identity identity_;
  std::string data_name_, map_name_;
  std::mutex map_mutex_;  // held while the map is written or dropped; taken before mutex_
  bool ended_ = false;    // completed or discarded: no map may appear again
  mutable std::mutex mutex_;
  std::shared_ptr<core::Fd> data_;        // a write in progress keeps it open
  Bitmap bitmap_;                         // empty until there is data
  bool resumed_ = false;                  // the data file may hold anything where no bit is set
  std::unordered_set<uint32_t> writing_;  // chunks on their way to the disk
  uint32_t saved_ = 0;                    // chunks in the map on disk
};

}  // namespace keibi::stream
