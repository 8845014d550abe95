// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuse/daemon_requests.h"

namespace keibi::fuse {

// Extended attributes, which the other peer has. Any thread.
class XattrOps {
 public:
  explicit XattrOps(Parts* parts) : parts_(*parts) {}

  void GetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, size_t size);
  void SetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, std::string_view value, int how);
  void RemoveAttribute(fuse_req_t request, uint64_t ino, const std::string& name);
  void ListAttributes(fuse_req_t request, uint64_t ino, size_t size);

 private:
  Parts& parts_;
};

}  // namespace keibi::fuse
