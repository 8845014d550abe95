// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

#include "fuse/content.h"
#include "fuse/daemon_requests.h"
#include "fuse/lookup_ops.h"

namespace keibi::fuse {

// Writes, which go into overlays and are sent later, and changes of attributes. Any thread.
class WriteOps {
 public:
  WriteOps(Parts* parts, LookupOps* lookup) : parts_(*parts), lookup_(*lookup) {}

  // The call copies the written bytes.
  void Write(fuse_req_t request, uint64_t ino, const uint8_t* bytes, size_t length, uint64_t offset, bool append);
  void Flush(fuse_req_t request, uint64_t ino, const Handle& handle, uint64_t owner);
  void Sync(fuse_req_t request, uint64_t ino, bool answered = false);
  void SetAttributes(fuse_req_t request, uint64_t ino, const struct stat& wanted, int what, bool answered = false);

 private:
  void SetTimes(fuse_req_t request, uint64_t ino, int64_t mtime_ns);

  Parts& parts_;
  LookupOps& lookup_;
};

}  // namespace keibi::fuse
