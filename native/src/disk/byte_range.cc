// SPDX-License-Identifier: MPL-2.0
#include "disk/byte_range.h"

namespace keibi::disk {

bool AreInOrder(const std::vector<ByteRange>& ranges, uint64_t size) {
  uint64_t end = 0;
  for (const ByteRange& range : ranges) {
    if (range.length == 0 || range.offset < end || range.offset > size || range.length > size - range.offset)
      return false;
    end = range.offset + range.length;
  }
  return true;
}

}  // namespace keibi::disk
