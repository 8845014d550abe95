// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>
#include <string>

#include "core/fd.h"
#include "manifest/entry.h"

namespace keibi::disk {

// Opens a temporary file and unlinks it at once. Watches and listings skip its name.
inline core::Fd OpenNamedScratch(int directory) {
  std::random_device random;
  std::array<char, 24> end{};
  std::snprintf(end.data(), end.size(), "-put-%08x%08x", random(), random());
  const std::string name = std::string(manifest::kStagingName) + end.data();
  core::Fd fd(openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.valid()) unlinkat(directory, name.c_str(), 0);
  return fd;
}

}  // namespace keibi::disk
