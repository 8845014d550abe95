// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::stream {

// Paths beneath a folder that another peer may name: names joined by '/', empty for the folder itself. Each name is
// acceptable (PROTOCOL 6), and each step is an openat(2) that follows no symlink: whatever is renamed or replaced
// meanwhile, nothing outside of the folder is reached.
//
// All: kPathRefused for a path that is none, or that leads through a symlink; kSourceMissing; kSourceUnreadable.

// openat(2) of one name, without O_CREAT: a file that is being written (write_guard.h) is waited for, also with
// O_NONBLOCK. -1 with errno.
int OpenWhenFree(int directory, const std::string& name, int flags);

// The folder itself, which a person has named: here a symlink is followed.
core::Status OpenFolder(const std::string& folder, core::Fd* fd);

core::Status OpenBeneath(int folder, std::string_view path, int flags, core::Fd* fd);

// The directory that holds what `path` names, and its name there. `path` is not empty.
core::Status OpenParentBeneath(int folder, std::string_view path, core::Fd* parent, std::string* name);

// Opens the directory at `path` below `folder` and makes what is missing of it; empty for the folder itself. `path` is
// this machine's own: any name but '.' and '..'. kFolderNotAllowed if it leads through a symlink or out of the folder.
core::Status MakeBeneath(int folder, std::string_view path, core::Fd* fd);

}  // namespace keibi::stream
