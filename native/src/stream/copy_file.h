// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>

namespace keibi::stream {

// Copies the content of an open file into an empty one, by the file system if it can, without its holes. False with
// errno. One file per platform.
bool CopyContent(int from, int to, int64_t size);

}  // namespace keibi::stream
