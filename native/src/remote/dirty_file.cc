// SPDX-License-Identifier: MPL-2.0
#include "remote/dirty_file.h"

#include <fcntl.h>

#include "core/whole_io.h"
#include "manifest/dir_entry.h"

namespace keibi::remote {

using core::Code;
using core::Status;

Status DirtyFile::Open(const std::string& directory, const std::string& key) {
  data_ = core::Fd(open((directory + "/" + key + ".data").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return data_.valid() ? Status::Ok() : manifest::SourceError();
}

Status DirtyFile::Read(uint64_t offset, uint8_t* to, size_t bytes) const {
  const ssize_t got = core::ReadWhole(data_.get(), to, bytes, offset);
  if (got < 0) return Status::FromErrno(Code::kSourceUnreadable);
  return Status::Of(got == static_cast<ssize_t>(bytes) ? Code::kOk : Code::kSizeMismatch);
}

}  // namespace keibi::remote
