// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/status.h"

namespace keibi::manifest {

inline constexpr size_t kDigestBytes = 32;

// SHA-256 of each chunk of an open file of `size` bytes, concatenated. kSizeMismatch when the file ends early,
// kCancelled once `stopped`, kSourceUnreadable.
core::Status DigestChunks(int fd, uint64_t size, const std::atomic<bool>& stopped, std::vector<uint8_t>* digests);

// Forces the next reads of the file to come from the disk: writes it out and drops it from the page cache.
void ForgetCached(int fd);

}  // namespace keibi::manifest
