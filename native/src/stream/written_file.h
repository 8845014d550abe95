// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::stream {

class PutJournal;

// Names a draft: what several puts of it have left is its own.
using DraftToken = std::array<uint8_t, 16>;

// By what a content of a file is told from another.
struct FileState {
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  bool operator==(const FileState&) const = default;
};

// How a file is to be left.
struct Finish {
  FileState state;
  bool sync = false;  // stands on the disk
};

// A file that is open to be written in place. Any thread; writes may run beside each other, and none runs, or begins,
// once Commit or Close has returned.
class WrittenFile {
 public:
  using Inode = std::pair<dev_t, ino_t>;

  // `journal` may be null.
  WrittenFile(core::Fd fd, std::string name, const DraftToken& token, Inode inode, std::shared_ptr<PutJournal> journal)
      : token(token), inode(inode), name_(std::move(name)), journal_(std::move(journal)), fd_(std::move(fd)) {}

  // All: kCallFailed with the errno; kCancelled if it is closed.
  core::Status Write(uint64_t offset, const uint8_t* data, size_t bytes);
  core::Status Cut(uint64_t size);  // shortens it, if it is longer
  // Gives it its size and mtime and closes it. `entry` gets what it is then, `left` the same; also after a failure,
  // where that can be told.
  core::Status Commit(const Finish& finish, std::vector<uint8_t>* entry, std::optional<FileState>* left);
  std::optional<FileState> Close();  // what it is then; nothing if it was closed

  const DraftToken token;
  const Inode inode;

 private:
  std::optional<FileState> CloseLocked();

  const std::string name_;
  const std::shared_ptr<PutJournal> journal_;
  std::shared_mutex mutex_;  // exclusive: to close
  core::Fd fd_;
};

}  // namespace keibi::stream
