// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fuse/content.h"
#include "fuse/daemon_requests.h"

namespace keibi::fuse {

// Opens, reads and closes files. Any thread.
class ReadOps {
 public:
  explicit ReadOps(Parts* parts) : parts_(*parts) {}

  void Open(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered = false);
  void Read(fuse_req_t request, uint64_t ino, size_t size, off_t offset, Handle* handle);
  void Release(fuse_req_t request, uint64_t ino, Handle* handle, const fuse_file_info& info);

 private:
  struct Reading {
    fuse_req_t request;
    uint64_t ino;
    uint64_t offset;
    size_t size;
    Handle* handle;
    int attempts = 0;
  };

  // Whether the known version of a file is surely current, so that open(2) need not ask the other peer.
  bool IsFresh(uint64_t ino, const mount::Found& found, const fuse_file_info& info);
  int ReplyOpen(fuse_req_t request, uint64_t ino, fuse_file_info* opened, Handle* handle);
  void ReadOnce(Reading reading);
  void ReadMissing(const Reading& reading, const std::shared_ptr<Content>& content, uint32_t first, uint32_t end);
  void ReadOverlay(Reading reading, const std::shared_ptr<mount::OverlayFile>& overlay);
  void FetchForOverlay(const Reading& reading, const std::shared_ptr<mount::OverlayFile>& overlay,
                       const mount::Missing& needed);
  // If a lock was taken since the handle's last read, lets the handle continue with another version.
  void Renew(uint64_t ino, Handle* handle);
  // The content that the handle reads now; null, with `error` set, if it is not readable.
  std::shared_ptr<Content> ContentOf(const Reading& reading, int* error);

  Parts& parts_;
};

}  // namespace keibi::fuse
