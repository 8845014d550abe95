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
#include "stream/written_file.h"

namespace keibi::stream {

// What puts do to the files of a folder, in a file of records of the machine's own byte order:
//
//   kind 8 | token 16 | four numbers of 8
//
// so that a sharing peer that was killed knows after its next start that a file which is neither what a draft was made
// on nor what it has left is half of that draft, and nobody else's. It outlives kill -9 in the page cache, and no more
// is promised: after a loss of power both are kept. Any thread.
class PutJournal {
 public:
  // Takes the file over, with what an earlier one has left in it. Null if another process has it, or nobody can.
  static std::shared_ptr<PutJournal> Open(const std::string& path);

  // Before the first change of the file, before each, before it gets its state, and when nothing more is written.
  void Begins(const DraftToken& token, const WrittenFile::Inode& inode);
  void Writes(const DraftToken& token);
  void Leaves(const DraftToken& token, const FileState& state);
  void Ends(const DraftToken& token, const FileState& state);

  // Whether a file that is so now is as the earlier process has left it for this draft, finished or not.
  bool Knows(const DraftToken& token, const WrittenFile::Inode& inode, const FileState& state) const;

 private:
  struct Record {
    uint64_t kind = 0;
    DraftToken token{};
    uint64_t numbers[4]{};
  };
  // Of one draft.
  struct Trace {
    WrittenFile::Inode inode{};
    int64_t begun_ns = 0, written_ns = 0;   // of the clock
    std::optional<FileState> left, before;  // the last two
    bool ended = true;
  };

  explicit PutJournal(core::Fd fd) : fd_(std::move(fd)) {}
  bool Load();
  static void Follow(const Record& record, std::map<DraftToken, Trace>* traces);
  void Append(const Record& record);
  void Compact();

  const core::Fd fd_;
  std::map<DraftToken, Trace> earlier_;
  std::mutex mutex_;
  std::map<DraftToken, Trace> traces_;
  uint64_t records_ = 0;
};

}  // namespace keibi::stream
