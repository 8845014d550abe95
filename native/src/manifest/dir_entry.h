// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/status.h"
#include "manifest/entry.h"

namespace keibi::manifest {

// The error of a source file or directory, from errno.
core::Status SourceError();

// A directory entry in the form that another peer may receive.
struct DirEntry {
  std::string name;
  std::string target;  // of a symlink, which is never followed
  Entry entry;         // its views point at the two above; has no parent yet

  DirEntry() = default;
  DirEntry(const DirEntry&) = delete;
  DirEntry& operator=(const DirEntry&) = delete;
};

// kSourceMissing, kSourceUnreadable, kPathRefused (a name or a target that every peer would refuse), kSourceUnsupported
// (neither file, directory nor symlink), kLimitExceeded (file too long).
core::Status LookAt(int directory, const char* name, DirEntry* child);

// Type, mode, time and size of something that LookAt would accept; kStream for anything but a file, directory or
// symlink.
Entry EntryOf(const struct stat& status);

bool IsTooLong(const struct stat& status);  // for a file; a sparse file can be longer than any disk

}  // namespace keibi::manifest
