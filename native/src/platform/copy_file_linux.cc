// SPDX-License-Identifier: MPL-2.0
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/copy_file.h"

namespace keibi::platform {
namespace {

constexpr size_t kStep = size_t{64} << 20;

bool CopyBytes(int from, int to, off_t at, off_t end) {
  bool whole = true;  // copy_file_range(2) does not support every pair of file systems
  while (at < end) {
    const auto left = std::min(kStep, static_cast<size_t>(end - at));
    off_t in = at, out = at;
    ssize_t copied = whole ? copy_file_range(from, &in, to, &out, left, 0) : -1;
    if (whole && copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
      whole = false;
      continue;
    }
    if (!whole) {
      if (lseek(to, at, SEEK_SET) < 0) return false;
      copied = sendfile(to, from, &in, left);
    }
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0) return false;
    if (copied == 0) return true;  // the file is shorter by now
    at += copied;
  }
  return true;
}

}  // namespace

bool CopyContent(int from, int to, int64_t size) {
  return ioctl(to, FICLONE, from) == 0 || CopyData(from, to, size, CopyBytes);
}

}  // namespace keibi::platform
