// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "platform/attributes.h"
#include "share/served_files.h"

namespace keibi::share {

enum class RenameMode : uint8_t { kReplace, kKeep, kExchange };

// The changes that another peer may make in a live shared folder (PROTOCOL 11.2): names and attributes. The peer
// chooses each path (beneath.h); no symlink is followed. `entry` receives the result as a manifest entry. Any thread;
// may block.
//
// All: kCallFailed with the errno; kPathRefused for an invalid path.
class FolderWrites {
 public:
  explicit FolderWrites(ServedFolder folder) : folder_(std::move(folder)) {}

  // Creates it with exactly this mode, regardless of the umask. EEXIST. `directory_ns`: the new mtime of its directory.
  core::Status Create(std::string_view path, uint16_t mode, std::vector<uint8_t>* entry, int64_t* directory_ns) const;
  core::Status MakeDirectory(std::string_view path, uint16_t mode, std::vector<uint8_t>* entry,
                             int64_t* directory_ns) const;
  core::Status MakeSymlink(std::string_view path, const std::string& target, std::vector<uint8_t>* entry,
                           int64_t* directory_ns) const;
  core::Status Remove(std::string_view path, bool directory, int64_t* directory_ns) const;
  core::Status Rename(std::string_view from, std::string_view to, RenameMode mode) const;
  core::Status Change(std::string_view path, std::optional<uint16_t> mode, std::optional<int64_t> mtime_ns,
                      std::vector<uint8_t>* entry) const;
  // Copies a file with its mode, mtime and holes. EEXIST.
  core::Status Copy(std::string_view from, std::string_view to, std::vector<uint8_t>* entry) const;

  // Only names in `user.`; ENOTSUP for others.
  core::Status Get(std::string_view path, const std::string& name, std::vector<uint8_t>* value) const;
  core::Status Set(std::string_view path, const std::string& name, const std::vector<uint8_t>& value,
                   platform::AttributeMode mode) const;
  core::Status Unset(std::string_view path, const std::string& name) const;
  core::Status List(std::string_view path, std::vector<std::string>* names) const;

  // Makes a directory's names durable.
  core::Status SyncDirectory(std::string_view path) const;

  const ServedFolder& folder() const { return folder_; }

 private:
  // Opens the directory that holds a path. `names`: the call creates, renames or removes the name, which is refused
  // with EPERM when one file is shared.
  core::Status Parent(std::string_view path, bool names, core::Fd* parent, std::string* name) const;
  core::Status OpenForAttributes(std::string_view path, const std::string& name, bool changes, core::Fd* fd) const;

  const ServedFolder folder_;
};

// Converts a status of beneath.h to one of a call, with its errno if the system gave one.
core::Status AsCall(core::Status status);

// Appends one entry as in a manifest. kCallFailed.
core::Status AppendEntryAt(int parent, const std::string& name, std::vector<uint8_t>* entry);

}  // namespace keibi::share
