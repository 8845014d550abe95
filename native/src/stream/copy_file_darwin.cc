// SPDX-License-Identifier: MPL-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/limits.h"
#include "stream/copy_file.h"

// Written from the manual pages, never compiled (docs/PORTING.md). clonefile(2) makes a file and fills none that is
// there, so that this copies.
namespace keibi::stream {
namespace {

bool CopyRange(int from, int to, off_t at, off_t end) {
  std::vector<uint8_t> buffer(core::kChunkBytes);
  while (at < end) {
    const auto left = std::min(buffer.size(), static_cast<size_t>(end - at));
    const ssize_t some = pread(from, buffer.data(), left, at);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) return false;
    if (some == 0) return true;  // it is shorter by now
    for (ssize_t done = 0; done < some;) {
      const ssize_t written = pwrite(to, buffer.data() + done, static_cast<size_t>(some - done), at + done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      done += written;
    }
    at += some;
  }
  return true;
}

}  // namespace

bool CopyContent(int from, int to, int64_t size) {
  if (ftruncate(to, size) != 0) return false;
  for (off_t at = 0; at < size;) {
    off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return true;  // zeros up to the end
    if (data < 0) data = at;
    off_t hole = lseek(from, data, SEEK_HOLE);
    if (hole <= data) hole = size;
    if (!CopyRange(from, to, data, std::min<off_t>(hole, size))) return false;
    at = hole;
  }
  return true;
}

}  // namespace keibi::stream
