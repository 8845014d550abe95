// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <dirent.h>

#include <memory>

namespace keibi::platform {

struct CloseDir {
  void operator()(DIR* directory) const { closedir(directory); }
};

// An open directory; closed when destroyed.
using OwnedDir = std::unique_ptr<DIR, CloseDir>;

}  // namespace keibi::platform
