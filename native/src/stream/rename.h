// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>

namespace keibi::stream {

// Renames within one file system and never replaces: false with errno EEXIST when the name is taken. One file per
// platform.
bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to);

// The same where the file system has no call for it, by a hard link; with neither it is look, then rename.
bool RenameNewByLink(int from_directory, const std::string& from, int to_directory, const std::string& to);

// Each takes the place of the other, at once: false with errno, EINVAL where the file system cannot.
bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to);

}  // namespace keibi::stream
