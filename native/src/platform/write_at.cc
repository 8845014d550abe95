// SPDX-License-Identifier: MPL-2.0
#include "platform/write_at.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/limits.h"
#include "core/whole_io.h"

namespace keibi::platform {

using core::Code;
using core::Status;

Status WriteError(Code otherwise) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return Status::FromErrno(full ? Code::kDiskFull : otherwise);
}

Status WriteAt(int fd, const uint8_t* data, size_t bytes, uint64_t offset) {
  const bool written = core::WriteWhole(fd, data, bytes, offset);
  return written ? Status::Ok() : WriteError(Code::kDestinationUnusable);
}

Status WriteZeros(int fd, uint64_t offset, uint64_t end) {
  if (offset >= end) return Status::Ok();
  const std::vector<uint8_t> zeros(std::min<uint64_t>(core::kChunkBytes, end - offset));
  while (offset < end) {
    const uint64_t now = std::min<uint64_t>(zeros.size(), end - offset);
    if (const Status written = WriteAt(fd, zeros.data(), now, offset); !written.ok()) return written;
    offset += now;
  }
  return Status::Ok();
}

}  // namespace keibi::platform
