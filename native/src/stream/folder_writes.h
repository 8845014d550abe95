// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "stream/attributes.h"
#include "stream/served_files.h"

namespace keibi::stream {

enum class RenameMode : uint8_t { kReplace, kKeep, kExchange };

// What another peer may change in a folder that is offered live (PROTOCOL 11.2): names and attributes. A path is what
// that peer has named (beneath.h); no symlink is followed. `entry` gets what stands there then, as in a manifest. Any
// thread; may block.
//
// All: kCallFailed with the errno; kPathRefused for a path that is none.
class FolderWrites {
 public:
  explicit FolderWrites(ServedFolder folder) : folder_(std::move(folder)) {}

  // Exactly with this mode, whatever umask there is. EEXIST. `directory_ns`: the mtime then of the directory it is in.
  core::Status Create(std::string_view path, uint16_t mode, std::vector<uint8_t>* entry, int64_t* directory_ns) const;
  core::Status MakeDirectory(std::string_view path, uint16_t mode, std::vector<uint8_t>* entry,
                             int64_t* directory_ns) const;
  core::Status MakeSymlink(std::string_view path, const std::string& target, std::vector<uint8_t>* entry,
                           int64_t* directory_ns) const;
  core::Status Remove(std::string_view path, bool directory, int64_t* directory_ns) const;
  core::Status Rename(std::string_view from, std::string_view to, RenameMode mode) const;
  core::Status Change(std::string_view path, std::optional<uint16_t> mode, std::optional<int64_t> mtime_ns,
                      std::vector<uint8_t>* entry) const;
  // A file with its mode and mtime, and its holes. EEXIST.
  core::Status Copy(std::string_view from, std::string_view to, std::vector<uint8_t>* entry) const;

  // Names of `user.` alone: ENOTSUP for others.
  core::Status Get(std::string_view path, const std::string& name, std::vector<uint8_t>* value) const;
  core::Status Set(std::string_view path, const std::string& name, const std::vector<uint8_t>& value,
                   AttributeMode mode) const;
  core::Status Unset(std::string_view path, const std::string& name) const;
  core::Status List(std::string_view path, std::vector<std::string>* names) const;

  // What names a directory has stands on the disk then.
  core::Status SyncDirectory(std::string_view path) const;

  const ServedFolder& folder() const { return folder_; }

 private:
  // The directory that holds what a path names. With one file shared, `names` (may be made, renamed or removed) is
  // refused: EPERM.
  core::Status Parent(std::string_view path, bool names, core::Fd* parent, std::string* name) const;
  core::Status OpenForAttributes(std::string_view path, const std::string& name, bool changes, core::Fd* fd) const;

  const ServedFolder folder_;
};

// A status of beneath.h as one of a call: with its errno, if the system has said one.
core::Status AsCall(core::Status status);

// One entry as in a manifest. kCallFailed.
core::Status AppendEntryAt(int parent, const std::string& name, std::vector<uint8_t>* entry);

}  // namespace keibi::stream
