// SPDX-License-Identifier: MPL-2.0
#include <cstdio>

#include "platform/rename.h"

namespace keibi::platform {

bool RenameAt2(int from_directory, const std::string& from, int to_directory, const std::string& to, unsigned flags) {
  return renameat2(from_directory, from.c_str(), to_directory, to.c_str(), flags) == 0;
}

}  // namespace keibi::platform
