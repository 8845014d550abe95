// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "core/status.h"

namespace keibi::platform {

inline constexpr int64_t kNsPerSecond = 1'000'000'000;

inline int64_t MtimeNs(const struct stat& status) {
  // Clamps a time that 64 bits cannot hold to the nearest one that fits.
  constexpr int64_t kMost = INT64_MAX / kNsPerSecond - 1;
  const auto seconds = std::clamp<int64_t>(status.st_mtim.tv_sec, -kMost, kMost);
  return seconds * kNsPerSecond + status.st_mtim.tv_nsec;
}

// For utimensat(2) and futimens(2): sets the modification time and leaves the access time. Rounds towards the past.
struct FileTimes {
  explicit FileTimes(int64_t mtime_ns) {
    int64_t seconds = mtime_ns / kNsPerSecond, ns = mtime_ns % kNsPerSecond;
    if (ns < 0) {
      seconds--;
      ns += kNsPerSecond;
    }
    times[0] = {0, UTIME_OMIT};
    times[1] = {static_cast<time_t>(seconds), static_cast<long>(ns)};
  }
  timespec times[2];
};

// kDestinationUnusable.
inline core::Status SetMtime(int fd, int64_t mtime_ns) {
  const bool set = futimens(fd, FileTimes(mtime_ns).times) == 0;
  return set ? core::Status::Ok() : core::Status::FromErrno(core::Code::kDestinationUnusable);
}

}  // namespace keibi::platform
