// SPDX-License-Identifier: MPL-2.0
#include "manifest/dir_entry.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/limits.h"
#include "manifest/bitmap.h"
#include "platform/file_time.h"

namespace keibi::manifest {
namespace {

using core::Code;
using core::Status;

// Whether it uses less disk space than its length. A file that the disk compresses looks the same, which is harmless.
bool IsSparse(const struct stat& status) {
  constexpr off_t kBlockBytes = 512;  // of st_blocks (stat(3type))
  return status.st_size > static_cast<off_t>(core::kChunkBytes) && status.st_blocks < status.st_size / kBlockBytes;
}

Status ReadTarget(int directory, const char* name, std::string* target) {
  target->resize(core::kMaxTargetBytes + 1);
  const ssize_t length = readlinkat(directory, name, target->data(), target->size());
  if (length <= 0) return SourceError();
  target->resize(static_cast<size_t>(length));
  const bool sendable = target->size() <= core::kMaxTargetBytes && IsUtf8(*target);
  return sendable ? Status::Ok() : Status::Of(Code::kPathRefused);
}

}  // namespace

Status SourceError() {
  return Status::FromErrno(errno == ENOENT || errno == ENOTDIR ? Code::kSourceMissing : Code::kSourceUnreadable);
}

bool IsTooLong(const struct stat& status) {
  return S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) > (IsSparse(status) ? core::kMaxSparseBytes : kMaxChunkedBytes);
}

Entry EntryOf(const struct stat& status) {
  Entry entry;
  entry.mode = status.st_mode & 0777;
  entry.mtime_ns = platform::MtimeNs(status);
  if (S_ISDIR(status.st_mode)) {
    entry.type = EntryType::kDirectory;
  } else if (S_ISLNK(status.st_mode)) {
    entry.type = EntryType::kSymlink;
  } else if (S_ISREG(status.st_mode)) {
    entry.size = static_cast<uint64_t>(status.st_size);
    entry.sparse = IsSparse(status);
  } else {
    entry.type = EntryType::kStream;
  }
  return entry;
}

Status LookAt(int directory, const char* name, DirEntry* child) {
  struct stat status;
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return SourceError();
  if (!IsAcceptableName(name)) return Status::Of(Code::kPathRefused);
  child->target.clear();
  if (S_ISLNK(status.st_mode)) {
    if (const Status read = ReadTarget(directory, name, &child->target); !read.ok()) return read;
  } else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return Status::Of(Code::kSourceUnsupported);
  }
  if (IsTooLong(status)) return Status::Of(Code::kLimitExceeded);
  child->name = name;
  child->entry = EntryOf(status);
  child->entry.name = child->name;
  child->entry.target = child->target;
  return Status::Ok();
}

}  // namespace keibi::manifest
