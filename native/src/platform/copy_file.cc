// SPDX-License-Identifier: MPL-2.0
#include "platform/copy_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace keibi::platform {

bool CopyData(int from, int to, int64_t size, CopyRange* copy) {
  if (ftruncate(to, size) != 0) return false;
  for (off_t at = 0; at < size;) {
    off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return true;  // zeros to the end
    if (data < 0) data = at;
    off_t hole = lseek(from, data, SEEK_HOLE);
    if (hole <= data) hole = size;
    if (!copy(from, to, data, std::min<off_t>(hole, size))) return false;
    at = hole;
  }
  return true;
}

}  // namespace keibi::platform
