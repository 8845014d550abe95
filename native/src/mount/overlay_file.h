// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/fd.h"
#include "mount/base_contents.h"
#include "mount/ranges.h"
#include "mount/unsent_changes.h"
#include "remote/cache_file.h"

namespace keibi::mount {

// Blocks of the version `of` that a read needs. `content` is their cache file, if one is known.
struct Missing {
  FileVersion of;
  std::shared_ptr<remote::CacheFile> content;
  uint32_t first = 0, end = 0;
};

// A file that is being written here. TOKEN.data in the cache holds the written bytes, at their offsets, as an overlay
// on the other peer's file. Each byte comes from the overlay, or below `hold_` from the other peer's file, or is 0.
// Bytes stay in the overlay after a put, so all versions left at the other peer are equal below it. Any thread;
// `mutex_` guards everything that changes.
class OverlayFile {
 public:
  // Returns 0, or the errno why it could not be created. `dirty` is a total that counts the bytes in the overlay.
  static int Open(int directory, const FileVersion& base, std::shared_ptr<remote::CacheFile> content,
                  std::atomic<uint64_t>* dirty, std::shared_ptr<OverlayFile>* overlay);
  OverlayFile(const OverlayFile&) = delete;
  OverlayFile& operator=(const OverlayFile&) = delete;
  ~OverlayFile();

  const std::string& token() const { return token_; }
  FileVersion version() const;
  FileVersion base() const;
  // The version the overlay was created on.
  const FileVersion& origin() const { return origin_; }

  // Each returns an errno, or 0.
  int Write(uint64_t offset, const uint8_t* bytes, size_t length, int64_t now_ns);
  int Append(const uint8_t* bytes, size_t length, int64_t now_ns);
  int Truncate(uint64_t size, int64_t now_ns);
  void SetMtime(int64_t mtime_ns);

  // Reads up to `length` bytes. False if some of them are `missing`.
  bool Read(uint64_t offset, uint8_t* to, size_t length, size_t* read, Missing* missing, int* error);
  // Adds the cache file of the version `of`; ignored if that is no longer the latest version.
  void AddContent(const FileVersion& of, std::shared_ptr<remote::CacheFile> content);

  // Whether the other peer lacks something; with `sync`, also whether something is not yet on its disk.
  bool NeedsPut(bool sync) const;
  // The number of changes made, and how many of them the other peer has.
  uint64_t changes() const;
  uint64_t put_changes() const;
  uint64_t unsent_bytes() const;
  size_t unsent_ranges() const;
  // Begins a put of at most about `most_bytes`; false if there is nothing to put. One put at a time: Done or Failed
  // ends it.
  bool Begin(bool sync, uint64_t most_bytes, Put* put);
  void Done(const Put& put, const FileVersion& left);
  void Failed(const Put& put);
  // Discards all changes: they will never be sent.
  void GiveUp();
  // Marks the put bytes as not synced to the other peer's disk.
  void SetUnsynced();

  // Moves the overlay to another file, whose version is `base`: all its known bytes are to be put there. Unknown bytes
  // come from that file with `theirs`, else they are 0. Returns an errno, or 0.
  int MoveTo(const FileVersion& base, bool theirs);
  // Drops put bytes if they take more than `most_bytes` of the disk, or too many ranges. The other peer has them.
  void Shrink(uint64_t most_bytes);
  // Extends the file to its full length, if all bytes are known and it is not larger than `most_bytes`.
  bool Complete(uint64_t most_bytes);
  // Makes the file as complete as the known bytes allow, and leaves it in the cache. Not `complete`: bytes of the other
  // peer's file are missing, and read as 0.
  void Leave(bool* complete);
  // Another owner has taken its file: do not remove it.
  void LetGo() { mine_ = false; }

 private:
  OverlayFile(int directory, const FileVersion& base, std::atomic<uint64_t>* dirty);

  // All with mutex_ held.
  int WriteAt(uint64_t offset, const uint8_t* bytes, size_t length, int64_t now_ns);
  // Copies the cached bytes below hold_ into the overlay. False if some of them are not cached.
  bool TakeIn(int* error);
  bool Zero(uint64_t from, uint64_t end);
  // Makes the file as long as the overlay, with zeros for the bytes above hold_ that are not in the overlay.
  bool Extend();

  const int directory_;  // the cache; outlives this object
  std::string token_;
  core::Fd file_;
  const FileVersion origin_;
  std::atomic<bool> mine_{true};

  mutable std::mutex mutex_;
  FileVersion base_, now_;
  BaseContents contents_;
  Ranges overlay_;         // the ranges that TOKEN.data holds
  uint64_t hold_;          // below this offset, bytes outside the overlay come from `contents_`
  UnsentChanges changes_;  // their ranges are a subset of the overlay
};

}  // namespace keibi::mount
