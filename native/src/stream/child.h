// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/status.h"
#include "stream/entry.h"

namespace keibi::stream {

// What errno says of something that is to be sent.
core::Status SourceError();

// What a directory holds under one name, as it may be told to another peer.
struct Child {
  std::string name;
  std::string target;  // of a symlink, which is never followed
  Entry entry;         // its views point at the two above; no parent yet

  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
};

// kSourceMissing, kSourceUnreadable, kPathRefused (a name or a target that no peer would take), kSourceUnsupported
// (neither file, directory nor symlink), kLimitExceeded (too long a file).
core::Status LookAt(int directory, const char* name, Child* child);

// Type, mode, time and size of something that LookAt would take; kStream for what is neither file, directory nor
// symlink.
Entry EntryOf(const struct stat& status);

bool IsTooLong(const struct stat& status);  // for a file; sparse ones can be longer than any disk

}  // namespace keibi::stream
