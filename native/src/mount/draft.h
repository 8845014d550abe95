// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "mount/ranges.h"
#include "stream/cache_file.h"

namespace keibi::mount {

// What the other peer has of a file, as far as a version goes.
struct Version {
  uint64_t size = 0;
  int64_t mtime_ns = 0;

  bool operator==(const Version&) const = default;
};

// What is to be written to the other peer's file: once, from the draft's own file.
struct Put {
  Version base;
  Version now;
  uint64_t keep = 0;  // bytes of the base that still hold
  bool sync = false;
  uint64_t changes = 0;                               // all that were made until then are in it, and in those before
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // offset, length
};

// Blocks of the version `of` that a read needs. `content` is where they belong, if somebody has said so.
struct Missing {
  Version of;
  std::shared_ptr<stream::CacheFile> content;
  uint32_t first = 0, end = 0;
};

// A file that is being written here: TOKEN.data in the cache holds what was written, at its offsets, over what the
// other peer has. A byte is the overlay's, or below `hold_` that of the other peer's file, or 0. What was put stays in
// the overlay, so that every version that we have left there is the same below it. Any thread.
class Draft {
 public:
  // `dirty`: rises and falls with what is here alone.
  // The errno that it could not be made for, or 0.
  static int Open(int directory, const Version& base, std::shared_ptr<stream::CacheFile> content,
                  std::atomic<uint64_t>* dirty, std::shared_ptr<Draft>* draft);
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft();

  const std::string& token() const { return token_; }
  Version version() const;
  Version base() const;
  // What it was made on.
  const Version& origin() const { return origin_; }

  // Each an errno, or 0.
  int Write(uint64_t offset, const uint8_t* bytes, size_t length, int64_t now_ns);
  int Append(const uint8_t* bytes, size_t length, int64_t now_ns);
  int Truncate(uint64_t size, int64_t now_ns);
  void SetMtime(int64_t mtime_ns);

  // Reads what there is of `length` bytes; false if something of it is `missing`.
  bool Read(uint64_t offset, uint8_t* to, size_t length, size_t* read, Missing* missing, int* error);
  // Where blocks of the version `of` are; forgotten if that is not the last any more.
  void AddContent(const Version& of, std::shared_ptr<stream::CacheFile> content);

  // Whether the other peer lacks something; with `sync`, also if it only is not on its disk.
  bool NeedsPut(bool sync) const;
  // How many changes were made, and how many of them the other peer has.
  uint64_t changes() const;
  uint64_t put_changes() const;
  uint64_t unsent_bytes() const;
  size_t unsent_ranges() const;
  // Begins a put of at most about `most_bytes`; false if there is nothing to put. One at a time: Done or Failed ends
  // it.
  bool Begin(bool sync, uint64_t most_bytes, Put* put);
  void Done(const Put& put, const Version& left);
  void Failed(const Put& put);
  // Nobody will ever have it.
  void GiveUp();
  // What was put without reaching the disk for certain.
  void SetUnsynced();

  // From now on it stands for another file, which has `base`: all that is known of it is to be put there. With `theirs`
  // what is not known is that file's, else 0. An errno, or 0.
  int MoveTo(const Version& base, bool theirs);
  // The put bytes that take more than `most_bytes` of the disk, or too many ranges, are forgotten: the other peer has
  // them.
  void Shrink(uint64_t most_bytes);
  // Makes the file as long as it is and whole, if everything is known and it is not larger than `most_bytes`.
  bool Complete(uint64_t most_bytes);
  // Its file is somebody else's now.
  void LetGo() { mine_ = false; }

 private:
  Draft(int directory, const Version& base, std::atomic<uint64_t>* dirty);

  // All with mutex_ held.
  int WriteAt(uint64_t offset, const uint8_t* bytes, size_t length, int64_t now_ns);
  bool ReadBase(uint64_t from, uint64_t end, uint8_t* to, int* error);
  // Takes what is cached below hold_ into the overlay. False if not all of it was.
  bool TakeIn(int* error);
  bool Zero(uint64_t from, uint64_t end);
  void Count();

  const int directory_;  // of the cache: outlives this
  std::atomic<uint64_t>* const dirty_total_;
  std::string token_;
  core::Fd file_;
  const Version origin_;
  std::atomic<bool> mine_{true};

  mutable std::mutex mutex_;
  Version base_, now_;
  std::vector<std::pair<Version, std::shared_ptr<stream::CacheFile>>> contents_;
  Ranges overlay_;        // what this file has
  uint64_t hold_;         // what of the contents is not ours
  Ranges unsent_;         // of the overlay
  uint64_t keep_;         // for the next put
  bool changed_ = false;  // size or mtime
  uint64_t changes_ = 0, put_changes_ = 0;
  bool unsynced_ = false;
  bool putting_ = false;
  Ranges sent_;                // of the overlay, by the put that is under way
  uint64_t cut_ = UINT64_MAX;  // the least size since it began
  uint64_t counted_ = 0;
};

}  // namespace keibi::mount
