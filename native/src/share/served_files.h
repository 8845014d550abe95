// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/fd.h"
#include "core/status.h"
#include "share/held_content.h"
#include "share/read_wire.h"

namespace keibi::share {

// The shared part of a disk. `only`: the single shared file, or empty.
struct ServedFolder {
  std::string path, only;
};

// The files that a guest has named on one lane (PROTOCOL 11.1), read beneath the shared folder. One thread.
class ServedFiles {
 public:
  explicit ServedFiles(const ServedFolder& folder) : folder_(folder) {}

  // False for a number in use, and when there are too many.
  bool Name(const ReadRequest& ask);
  void Forget(uint32_t file);
  bool Knows(uint32_t file) const { return files_.contains(file); }

  // Reads exactly `length` bytes. kSourceChanged unless the file had the named content before and after, perhaps with
  // more appended; kSourceMissing, kSourceUnreadable, kPathRefused; kHandshakeMalformed beyond the named size.
  core::Status Read(uint32_t file, uint64_t offset, uint32_t length, uint8_t* to);

 private:
  struct File {
    std::string path;
    HeldContent held;
    core::Fd fd;                             // while the file is among the most recently used
    std::list<uint32_t>::iterator opened{};  // its place among them, if so
  };

  core::Status Open(uint32_t number, File* file);

  const ServedFolder& folder_;
  std::unordered_map<uint32_t, File> files_;
  size_t path_bytes_ = 0;
  std::list<uint32_t> open_;  // most recently used first
};

// Whether a guest may name this path: names as in a manifest, and no staging folder (PROTOCOL 11).
bool IsSharePath(std::string_view path);

}  // namespace keibi::share
