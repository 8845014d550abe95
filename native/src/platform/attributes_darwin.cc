// SPDX-License-Identifier: MPL-2.0
#include <sys/xattr.h>

#include <cerrno>

#include "platform/attributes.h"

// Written from the manual pages, never compiled (docs/PORTING.md). macOS has no namespaces: `user.` is an ordinary part
// of a name.
namespace keibi::platform {
namespace {

// macOS has its own errno for a missing attribute.
bool Reported(bool done) {
  if (!done && errno == ENOATTR) errno = ENODATA;
  return done;
}

}  // namespace

bool GetAttribute(int fd, const std::string& name, std::vector<uint8_t>* value) {
  value->resize(kMaxAttributeBytes);
  const ssize_t bytes = fgetxattr(fd, name.c_str(), value->data(), value->size(), /*position=*/0, /*options=*/0);
  value->resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  return Reported(bytes >= 0);
}

bool SetAttribute(int fd, const std::string& name, const std::vector<uint8_t>& value, AttributeMode mode) {
  const int options = mode == AttributeMode::kNew ? XATTR_CREATE : mode == AttributeMode::kOld ? XATTR_REPLACE : 0;
  return Reported(fsetxattr(fd, name.c_str(), value.data(), value.size(), /*position=*/0, options) == 0);
}

bool RemoveAttribute(int fd, const std::string& name) { return Reported(fremovexattr(fd, name.c_str(), 0) == 0); }

bool ListAttributes(int fd, std::vector<std::string>* names) {
  std::vector<char> list(kMaxAttributeBytes);
  const ssize_t bytes = flistxattr(fd, list.data(), list.size(), 0);
  if (bytes < 0) return false;
  for (const char* at = list.data(); at < list.data() + bytes; at += names->back().size() + 1) names->emplace_back(at);
  return true;
}

}  // namespace keibi::platform
