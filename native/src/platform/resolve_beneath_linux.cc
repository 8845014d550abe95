// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "platform/resolve_beneath.h"

namespace keibi::platform {
namespace {

// The kernel gives up with EAGAIN when a directory is renamed meanwhile.
constexpr int kMostOpenTries = 100;

}  // namespace

bool ResolveBeneath(int folder, const char* path, int flags, core::Fd* fd) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  for (int i = 0; i < kMostOpenTries; i++) {
    *fd = core::Fd(static_cast<int>(syscall(SYS_openat2, folder, path, &how, sizeof how)));
    if (fd->valid() || errno != EAGAIN) break;
  }
  // A sandbox that does not know the call returns EPERM.
  if (!fd->valid() && errno == EPERM) errno = ENOSYS;
  return fd->valid();
}

}  // namespace keibi::platform
