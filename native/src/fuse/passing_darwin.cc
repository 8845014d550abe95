// SPDX-License-Identifier: MPL-2.0
#include "fuse/passing.h"

// macOS has no passthrough: every open is in the usual way. Never compiled (docs/PORTING.md).
namespace keibi::fuse {

void Passing::Attach(fuse_session*, bool) {}

Passing::How Passing::Opened(uint64_t, const std::string&, int, const std::function<bool()>&) { return How::kCached; }

void Passing::Closed(uint64_t) {}

int Passing::Reply(fuse_req_t request, uint64_t, fuse_file_info* info, How) { return fuse_reply_open(request, info); }

}  // namespace keibi::fuse
