// SPDX-License-Identifier: MPL-2.0
#include "stream/draft.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "stream/child.h"

namespace keibi::stream {

using core::Code;
using core::Status;

Status Draft::Open(const std::string& directory, const std::string& key) {
  data_ = core::Fd(open((directory + "/" + key + ".data").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return data_.valid() ? Status::Ok() : SourceError();
}

Status Draft::Read(uint64_t offset, uint8_t* to, size_t bytes) const {
  for (size_t have = 0; have < bytes;) {
    const ssize_t got = pread(data_.get(), to + have, bytes - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::FromErrno(Code::kSourceUnreadable);
    if (got == 0) return Status::Of(Code::kSizeMismatch);
    have += static_cast<size_t>(got);
  }
  return Status::Ok();
}

bool AreInOrder(const std::vector<ByteRange>& ranges, uint64_t size) {
  uint64_t end = 0;
  for (const ByteRange& range : ranges) {
    if (range.length == 0 || range.offset < end || range.offset > size || range.length > size - range.offset)
      return false;
    end = range.offset + range.length;
  }
  return true;
}

}  // namespace keibi::stream
