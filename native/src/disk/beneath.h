// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::disk {

// Paths beneath a folder that another peer may name: names joined by '/', empty for the folder itself. Each name is
// acceptable (PROTOCOL 6), and each step is an openat(2) that follows no symlink. Renames and replacements meanwhile
// cannot lead outside the folder.
//
// All: kPathRefused for an invalid path or one that leads through a symlink; kSourceMissing; kSourceUnreadable.

// openat(2) of one name, without O_CREAT. Waits while the file is being written (write_guard.h), even with O_NONBLOCK.
// -1 with errno.
int OpenWhenFree(int directory, const std::string& name, int flags);

// Opens the folder itself, which a person has named; follows symlinks.
core::Status OpenFolder(const std::string& folder, core::Fd* fd);

core::Status OpenBeneath(int folder, std::string_view path, int flags, core::Fd* fd);

// Opens the parent directory of `path` and returns the last name. `path` is not empty.
core::Status OpenParentBeneath(int folder, std::string_view path, core::Fd* parent, std::string* name);

// Opens the directory at `path` below `folder` and creates missing directories; empty for the folder itself. `path`
// comes from this machine: any name except '.' and '..'. kFolderNotAllowed if it leads through a symlink or out of the
// folder.
core::Status MakeBeneath(int folder, std::string_view path, core::Fd* fd);

}  // namespace keibi::disk
