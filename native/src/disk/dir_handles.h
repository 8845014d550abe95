// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/fd.h"
#include "core/status.h"
#include "manifest/entry_table.h"

namespace keibi::disk {

using SharedFd = std::shared_ptr<core::Fd>;

// Open directories of a transfer by entry number. Files are opened by openat(2) from their own directory: no long
// paths, and no symlink below the top is ever followed. Keeps the most recently used directories open. Any thread.
class DirHandles {
 public:
  // Opens the directory of an entry that has no parent.
  using OpenTop = std::function<core::Status(uint32_t index, const manifest::Entry& entry, core::Fd* fd)>;

  // `missing` is the error code for a directory that cannot be opened.
  DirHandles(const manifest::EntryTable& table, OpenTop open_top, core::Code missing)
      : table_(table), open_top_(std::move(open_top)), missing_(missing) {}

  core::Status Get(uint32_t index, SharedFd* fd);

  // The directory got another name than in the manifest (a collision).
  void Rename(uint32_t index, std::string name);

  void Close();  // closes idle descriptors now, others when their last user lets go; a later Get reopens them

 private:
  struct Slot {
    SharedFd fd;
    std::list<uint32_t>::iterator recency;
  };

  SharedFd Cached(uint32_t index);
  void Keep(uint32_t index, SharedFd fd);
  core::Status Open(uint32_t index, const SharedFd& parent, SharedFd* fd);

  static constexpr size_t kKept = 256;

  const manifest::EntryTable& table_;
  const OpenTop open_top_;
  const core::Code missing_;
  std::mutex mutex_;
  std::list<uint32_t> recent_;
  std::unordered_map<uint32_t, Slot> slots_;
  std::unordered_map<uint32_t, std::string> renamed_;
};

}  // namespace keibi::disk
