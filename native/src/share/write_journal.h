// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/fd.h"
#include "share/write_handle.h"

namespace keibi::share {

// Records what puts do to a folder's files, in the machine's own byte order:
//
//   kind 8 | token 16 | four numbers of 8
//
// After a kill, the sharing peer reads it at its next start. A file that matches neither an overlay's base nor its
// result is then recognised as half of that overlay, not as another program's version. The journal survives kill -9 in
// the page cache but not a power loss: then both versions are kept. Any thread.
class WriteJournal {
 public:
  // Takes over the file and an earlier process's records. Null if another process has it, it cannot be opened, or it
  // has a record of an unknown kind: a later KeibiDrop wrote it, and it stays as it is.
  static std::shared_ptr<WriteJournal> Open(const std::string& path);

  // Begins: before the first change of the file. Writes: before each change. Leaves: before the file gets its final
  // version. Ends: when nothing more is written.
  void Begins(const OverlayToken& token, const WriteHandle::Inode& inode);
  void Writes(const OverlayToken& token);
  void Leaves(const OverlayToken& token, const disk::FileVersion& version);
  void Ends(const OverlayToken& token, const disk::FileVersion& version);

  // Whether a file in this version is as the earlier process left it for this overlay, finished or not.
  bool Knows(const OverlayToken& token, const WriteHandle::Inode& inode, const disk::FileVersion& version) const;

 private:
  struct Record {
    uint64_t kind = 0;
    OverlayToken token{};
    uint64_t numbers[4]{};
  };
  // The records of one overlay.
  struct Trace {
    WriteHandle::Inode inode{};
    int64_t begun_ns = 0, written_ns = 0;           // of the clock
    std::optional<disk::FileVersion> left, before;  // the last two
    bool ended = true;
  };

  explicit WriteJournal(core::Fd fd) : fd_(std::move(fd)) {}
  bool Load();
  static void Follow(const Record& record, std::map<OverlayToken, Trace>* traces);
  void Append(const Record& record);
  void Compact();

  const core::Fd fd_;
  std::map<OverlayToken, Trace> earlier_;
  std::mutex mutex_;
  std::map<OverlayToken, Trace> traces_;
  uint64_t records_ = 0;
};

}  // namespace keibi::share
