// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>

namespace keibi::platform {

// Renames within one file system and never replaces: false with errno EEXIST when the name is taken. One file per
// platform.
bool RenameNew(int from_directory, const std::string& from, int to_directory, const std::string& to);

// The fallback by hard link where the file system cannot do that. Without hard links it checks the name, then renames.
bool RenameNewByLink(int from_directory, const std::string& from, int to_directory, const std::string& to);

// Exchanges two names atomically: false with errno, EINVAL where the file system cannot.
bool RenameExchange(int from_directory, const std::string& from, int to_directory, const std::string& to);

// renameat2(2) on Linux: false with errno. One file per C library, because musl has no function for this call.
bool RenameAt2(int from_directory, const std::string& from, int to_directory, const std::string& to, unsigned flags);

}  // namespace keibi::platform
