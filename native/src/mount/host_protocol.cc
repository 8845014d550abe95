// SPDX-License-Identifier: MPL-2.0
#include "mount/host_protocol.h"

namespace keibi::mount {

void Writer::Append(const void* from, size_t length) {
  const auto* const bytes = static_cast<const uint8_t*>(from);
  bytes_.insert(bytes_.end(), bytes, bytes + length);
}

}  // namespace keibi::mount
