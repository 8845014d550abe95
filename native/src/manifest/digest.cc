// SPDX-License-Identifier: MPL-2.0
#include "manifest/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>

#include "core/whole_io.h"
#include "manifest/bitmap.h"

namespace keibi::manifest {

using core::Code;
using core::Status;

Status DigestChunks(int fd, uint64_t size, const std::atomic<bool>& stopped, std::vector<uint8_t>* digests) {
  std::vector<uint8_t> chunk(std::min<uint64_t>(size, core::kChunkBytes));
  digests->resize(size_t{ChunksOf(size)} * kDigestBytes);
  for (uint64_t offset = 0; offset < size; offset += core::kChunkBytes) {
    if (stopped.load()) return Status::Of(Code::kCancelled);
    const size_t bytes = static_cast<size_t>(std::min<uint64_t>(core::kChunkBytes, size - offset));
    const ssize_t got = core::ReadWhole(fd, chunk.data(), bytes, offset);
    if (got < 0) return Status::FromErrno(Code::kSourceUnreadable);
    if (got < static_cast<ssize_t>(bytes)) return Status::Of(Code::kSizeMismatch);
    uint8_t* const to = digests->data() + offset / core::kChunkBytes * kDigestBytes;
    if (EVP_Digest(chunk.data(), bytes, to, nullptr, EVP_sha256(), nullptr) != 1) return Status::Of(Code::kInternal);
  }
  return Status::Ok();
}

void ForgetCached(int fd) {
  fdatasync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace keibi::manifest
