// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuse/content.h"
#include "fuse/daemon_requests.h"
#include "mount/prefetch.h"
#include "mount/read_ahead.h"

namespace keibi::fuse {

// Requests blocks and listings before a program asks for them. Any thread.
class Prefetcher {
 public:
  explicit Prefetcher(Parts* parts) : parts_(*parts) {}

  // Call when a program opens a small file, or a directory: requests what the walk reaches next.
  void WalkOn(uint64_t ino, bool directory);
  void AskAhead(uint64_t ino, const std::shared_ptr<Content>& content, const mount::ReadAhead::Plan& plan);
  void LeaveAhead(const Content& content);
  // The message that requests `count` blocks from `first` on, and `ahead` blocks after them.
  mount::Writer WantOf(uint64_t ino, const Content& content, uint32_t first, uint32_t count, uint32_t ahead) const;
  void FetchForOpen(uint64_t ino, const std::string& path, Then then);

 private:
  uint64_t MostBytesAhead() const;
  void Follow(const mount::Prefetch::Plan& plan);
  void Fetch(const std::vector<uint64_t>& files);

  Parts& parts_;
};

}  // namespace keibi::fuse
