// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keibi::platform {

// Extended attributes of an open file or directory. Names include their namespace; IsUserAttribute checks them. Each
// function returns false with errno. One file per platform.
enum class AttributeMode : uint8_t { kAny, kNew, kOld };

bool GetAttribute(int fd, const std::string& name, std::vector<uint8_t>* value);
bool SetAttribute(int fd, const std::string& name, const std::vector<uint8_t>& value, AttributeMode mode);
bool RemoveAttribute(int fd, const std::string& name);
bool ListAttributes(int fd, std::vector<std::string>* names);

// The limits of Linux (xattr(7)); PROTOCOL 11.2 allows no more.
inline constexpr size_t kMaxAttributeName = 255;
inline constexpr size_t kMaxAttributeBytes = size_t{64} << 10;

}  // namespace keibi::platform
