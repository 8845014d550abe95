// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mount/base_contents.h"
#include "mount/ranges.h"

namespace keibi::mount {

// One write to the other peer's file. Its bytes come from the overlay's own file.
struct Put {
  FileVersion base;
  FileVersion now;
  uint64_t keep = 0;  // bytes of the base that are still valid
  bool sync = false;
  uint64_t changes = 0;                               // changes included in this put and in earlier ones
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // offset, length
};

// The changes of one overlay that the other peer lacks: byte ranges, a size or a time, a sync to its disk. One put at a
// time takes some of them; Done or Failed ends it. No lock: the overlay's guards it.
class UnsentChanges {
 public:
  // `total` counts the bytes of all overlays, also those of pending puts.
  UnsentChanges(uint64_t base_size, std::atomic<uint64_t>* total) : total_(total), keep_(base_size) {}
  ~UnsentChanges() { *total_ -= counted_; }
  UnsentChanges(const UnsentChanges&) = delete;
  UnsentChanges& operator=(const UnsentChanges&) = delete;

  // Changes made here.
  void Write(uint64_t from, uint64_t end);
  void Truncate(uint64_t size);
  void SetMtime();
  void SetUnsynced() { unsynced_ = true; }  // the put bytes are not on the other peer's disk
  void GiveUp();                            // none of them will be sent
  // All of `known` is to be put to another file, of which `keep` bytes are valid.
  void Restart(const Ranges& known, uint64_t keep);

  // Whether something is unsent or in a put; with `sync`, also whether something is not yet on the other peer's disk.
  bool NeedsPut(bool sync) const { return putting_ || HasUnsent(sync); }
  bool IsPutting() const { return putting_; }
  bool changed() const { return changed_; }  // the size, the time, or bytes
  uint64_t changes() const { return changes_; }
  uint64_t put_changes() const { return put_changes_; }  // of them, those that the other peer has
  uint64_t keep() const { return keep_; }
  const Ranges& unsent() const { return unsent_; }

  // Begins a put of at most about `most_bytes`; false if there is nothing to put, or one is pending.
  bool Begin(const FileVersion& base, const FileVersion& now, bool sync, uint64_t most_bytes, Put* put);
  void Done(const Put& put);
  void Failed(const Put& put);

 private:
  bool HasUnsent(bool sync) const { return changed_ || !unsent_.empty() || (sync && unsynced_); }
  void Count();

  std::atomic<uint64_t>* const total_;
  uint64_t counted_ = 0;  // in total_
  Ranges unsent_;
  uint64_t keep_;  // for the next put
  bool changed_ = false;
  uint64_t changes_ = 0, put_changes_ = 0;
  bool unsynced_ = false;
  bool putting_ = false;
  Ranges sent_;                // in the pending put
  uint64_t cut_ = UINT64_MAX;  // the smallest size since that put began
};

}  // namespace keibi::mount
