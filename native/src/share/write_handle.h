// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "disk/byte_range.h"
#include "disk/file_version.h"
#include "share/lock_table.h"
#include "share/put_stage.h"
#include "share/served_files.h"

namespace keibi::share {

class WriteJournal;

// Names an overlay, so that the results of its several puts can be recognised as its own.
using OverlayToken = std::array<uint8_t, 16>;

// The version in which to leave a file.
struct Finish {
  disk::FileVersion version;
  bool sync = false;  // makes the result durable
};

// A file that a put changes. Written bytes wait beside it until Commit, which applies the put's changes and nothing
// else. Any thread; writes may run in parallel. After Commit or Close has returned, no write runs or begins.
class WriteHandle {
 public:
  using Inode = std::pair<dev_t, ino_t>;
  // Whether a put may change a file in this version.
  using MayChange = std::function<bool(const disk::FileVersion&)>;

  struct Place {
    ServedFolder folder;
    std::string path, name;
    core::Fd parent;
    core::Fd file;
    Inode inode;
  };

  // `keep`: the first bytes of the content that remain valid. `journal`, and the writer's `locks`, may be null.
  WriteHandle(Place place, const OverlayToken& token, uint64_t keep, std::shared_ptr<WriteJournal> journal,
              std::shared_ptr<LockTable> locks)
      : token(token),
        inode(place.inode),
        folder_(std::move(place.folder)),
        path_(std::move(place.path)),
        name_(std::move(place.name)),
        keep_(keep),
        journal_(std::move(journal)),
        locks_(std::move(locks)),
        stage_(std::move(place.parent)),
        fd_(std::move(place.file)) {}

  // Write and Commit: kCallFailed with the errno; kCancelled if it is closed.
  core::Status Write(uint64_t offset, const uint8_t* data, size_t bytes);
  // Changes the file, sets its size and mtime, and closes it. `entry` gets the result; so does `left`, even after a
  // failure, if no other program has changed the file meanwhile. Changes nothing if `may_change` refuses the file or
  // another file has the path (kSourceChanged), or no file has it (kSourceMissing). The same while another program has
  // locked a part of it (kCallFailed with EBUSY).
  core::Status Commit(const Finish& finish, const MayChange& may_change, std::vector<uint8_t>* entry,
                      std::optional<disk::FileVersion>* left);
  void Close();  // idempotent; changes nothing in the file

  const OverlayToken token;
  const Inode inode;

 private:
  core::Status CommitLocked(const Finish& finish, const MayChange& may_change, std::vector<uint8_t>* entry,
                            std::optional<disk::FileVersion>* left);
  core::Status Measure(const Finish& finish, core::Status applied, struct stat* now,
                       std::optional<disk::FileVersion>* left) const;
  core::Status HasPath() const;
  core::Status Apply(const Finish& finish, uint64_t size, bool alone);
  core::Status Extend(const disk::ByteRange& range, uint64_t size, bool alone);
  core::Status WriteInPlace(const disk::ByteRange& range);
  core::Status Append(const disk::ByteRange& range);

  const ServedFolder folder_;
  const std::string path_, name_;
  const uint64_t keep_;
  const std::shared_ptr<WriteJournal> journal_;
  const std::shared_ptr<LockTable> locks_;
  std::shared_mutex mutex_;  // exclusive: to close
  PutStage stage_;
  core::Fd fd_;
};

}  // namespace keibi::share
