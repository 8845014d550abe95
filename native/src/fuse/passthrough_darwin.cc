// SPDX-License-Identifier: MPL-2.0
#include "fuse/passthrough.h"

// macOS has no passthrough: every open is in the usual way. Never compiled (docs/PORTING.md).
namespace keibi::fuse {

void Passthrough::Attach(fuse_session*, bool) {}

Passthrough::How Passthrough::Opened(uint64_t, const std::string&, int, const std::function<bool()>&) {
  return How::kCached;
}

void Passthrough::Closed(uint64_t) {}

int Passthrough::Reply(fuse_req_t request, uint64_t, fuse_file_info* info, How) {
  return fuse_reply_open(request, info);
}

}  // namespace keibi::fuse
