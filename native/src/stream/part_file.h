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
};

// A file of more than one chunk while it is received: KEY.data in the staging folder and the bitmap of its chunks,
// KEY.map:
//
//   "KDBM" 4 | version 1 | synced 1 | 0 2 | size 8 | mtime 8 | chunk bytes 4 | boot id 16 | bitmap | SHA-256 of all
//   before 32
//
// A bit is set only after its chunk was written. That survives kill -9, since the page cache does; after a restart of
// the machine a map is believed only if it is `synced`: saved by an orderly stop, after fdatasync. Any thread.
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

  // Saves the bitmap if it changed since the last time; `sync` also the data, for good.
  core::Status Save(bool sync);

  // Applies mode and mtime; the data file is then ready to be renamed from DataName(), Forget() drops the map.
  // kCancelled after Discard.
  core::Status Complete(mode_t mode);
  void Forget();   // the map only
  void Discard();  // both

  Bitmap held() const;
  const std::string& DataName() const { return data_name_; }

 private:
  core::Status OpenData();
  core::Status CreateData();
  std::optional<Bitmap> ReadMap(bool* other);

  const Staging& staging_;
  const Identity identity_;
  std::string data_name_, map_name_;
  std::mutex map_mutex_;  // held while the map is written or dropped; taken before mutex_
  bool ended_ = false;    // completed or discarded: no map may appear again
  mutable std::mutex mutex_;
  std::shared_ptr<core::Fd> data_;        // a write in progress keeps it open
  Bitmap bitmap_;                         // empty until there is data
  std::unordered_set<uint32_t> writing_;  // chunks on their way to the disk
  uint32_t saved_ = 0;                    // chunks in the map on disk
};

}  // namespace keibi::stream
