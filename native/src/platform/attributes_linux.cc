// SPDX-License-Identifier: MPL-2.0
#include <sys/xattr.h>

#include "platform/attributes.h"

namespace keibi::platform {

bool GetAttribute(int fd, const std::string& name, std::vector<uint8_t>* value) {
  value->resize(kMaxAttributeBytes);
  const ssize_t bytes = fgetxattr(fd, name.c_str(), value->data(), value->size());
  value->resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  return bytes >= 0;
}

bool SetAttribute(int fd, const std::string& name, const std::vector<uint8_t>& value, AttributeMode mode) {
  const int flags = mode == AttributeMode::kNew ? XATTR_CREATE : mode == AttributeMode::kOld ? XATTR_REPLACE : 0;
  return fsetxattr(fd, name.c_str(), value.data(), value.size(), flags) == 0;
}

bool RemoveAttribute(int fd, const std::string& name) { return fremovexattr(fd, name.c_str()) == 0; }

bool ListAttributes(int fd, std::vector<std::string>* names) {
  std::vector<char> list(kMaxAttributeBytes);
  const ssize_t bytes = flistxattr(fd, list.data(), list.size());
  if (bytes < 0) return false;
  for (const char* at = list.data(); at < list.data() + bytes; at += names->back().size() + 1) names->emplace_back(at);
  return true;
}

}  // namespace keibi::platform
