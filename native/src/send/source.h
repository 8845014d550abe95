// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/fd.h"
#include "core/status.h"
#include "disk/dir_handles.h"
#include "manifest/entry_table.h"
#include "send/walker.h"

namespace keibi::send {

// The files of a manifest, as the sending peer reads them. Any thread.
class Sources {
 public:
  Sources(const manifest::EntryTable& table, const std::vector<Root>& tops, disk::DirHandles* dirs)
      : table_(table), tops_(tops), dirs_(dirs) {}

  // kSourceMissing, kSourceUnreadable, or kSourceChanged when it is no longer a regular file.
  core::Status Open(uint32_t index, manifest::Entry* entry, core::Fd* fd) const;

  // Whether the entry is noise generated during the send (Root).
  bool IsGenerated(uint32_t index, const manifest::Entry& entry) const {
    return entry.parent == manifest::kTop && tops_[index].generated_bytes > 0;
  }

  // kSourceChanged unless size and mtime still match the offer. Call after reading and before sending.
  static core::Status CheckUnchanged(int fd, const manifest::Entry& entry);

 private:
  const manifest::EntryTable& table_;
  const std::vector<Root>& tops_;
  disk::DirHandles* const dirs_;
};

// A file of more than one chunk, shared by the lanes that send its chunks.
class SourceFile {
 public:
  SourceFile(uint32_t index, const manifest::Entry& entry) : index_(index), entry_(entry) {}

  // Reads one chunk into `to`; the first call opens the file. Once it has failed, it always fails.
  core::Status ReadChunk(const Sources& sources, uint32_t chunk, uint8_t* to, size_t* bytes);

  // How many whole chunks from this one on are hole, at most kMaxHoleChunks; 0 where there is data. Asks the disk once
  // per extent, and only for a file that was offered as sparse.
  core::Status FindHole(const Sources& sources, uint32_t chunk, uint32_t* chunks);

  // True for the first caller only, so that a failure is reported once.
  bool MarkFailed() { return !failed_.exchange(true); }
  bool failed() const { return failed_.load(); }
  uint32_t index() const { return index_; }
  const manifest::Entry& entry() const { return entry_; }

 private:
  // The hole at or after an offset and the data after it: [hole, data) and [data, end).
  struct Extent {
    uint64_t hole = 0, data = 0, end = 0;
  };

  core::Status Open(const Sources& sources);
  Extent ExtentAt(uint64_t offset) const;

  const uint32_t index_;
  const manifest::Entry entry_;
  std::mutex mutex_;
  core::Fd fd_;
  Extent extent_;  // the last extent that the disk reported
  std::atomic<bool> failed_ = false;
};

}  // namespace keibi::send
