// SPDX-License-Identifier: MPL-2.0
#include "send/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "core/limits.h"
#include "core/synthetic_data.h"
#include "core/whole_io.h"
#include "disk/beneath.h"
#include "manifest/bitmap.h"
#include "platform/file_time.h"

namespace keibi::send {

using core::Code;
using core::Status;

Status Sources::Open(uint32_t index, manifest::Entry* entry, core::Fd* fd) const {
  if (!table_.Find(index, entry)) return Status::Of(Code::kInternal);
  // Non-blocking: a former file may be a pipe by now.
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  if (entry->parent == manifest::kTop) return OpenRoot(tops_[index], kFlags, fd);
  disk::SharedFd directory;
  if (const Status status = dirs_->Get(entry->parent, &directory); !status.ok()) return status;
  *fd = core::Fd(disk::OpenWhenFree(directory->get(), std::string(entry->name), kFlags | O_NOFOLLOW));
  if (fd->valid()) return Status::Ok();
  if (errno == ELOOP) return Status::FromErrno(Code::kSourceChanged);
  return Status::FromErrno(errno == ENOENT ? Code::kSourceMissing : Code::kSourceUnreadable);
}

Status Sources::CheckUnchanged(int fd, const manifest::Entry& entry) {
  struct stat now;
  if (fstat(fd, &now) != 0) return Status::FromErrno(Code::kSourceUnreadable);
  const bool same = S_ISREG(now.st_mode) && static_cast<uint64_t>(now.st_size) == entry.size &&
                    platform::MtimeNs(now) == entry.mtime_ns;
  return same ? Status::Ok() : Status::Of(Code::kSourceChanged);
}

Status SourceFile::Open(const Sources& sources) {
  if (fd_.valid()) return Status::Ok();
  manifest::Entry entry;
  if (const Status status = sources.Open(index_, &entry, &fd_); !status.ok()) return status;
  posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_NOREUSE);  // read once: it need not evict other files from the cache
  return Status::Ok();
}

Status SourceFile::FindHole(const Sources& sources, uint32_t chunk, uint32_t* chunks) {
  *chunks = 0;
  if (!entry_.sparse) return Status::Ok();
  const std::scoped_lock lock(mutex_);
  if (const Status status = Open(sources); !status.ok()) return status;
  const uint64_t offset = uint64_t{chunk} * core::kChunkBytes;
  if (offset < extent_.hole || offset >= extent_.end) extent_ = ExtentAt(offset);
  if (extent_.data <= offset) return Status::Ok();
  // A hole at the end includes the short last chunk; a hole before data ends with its last whole chunk.
  const uint64_t hole = extent_.data - offset;
  const uint64_t whole = extent_.data == entry_.size ? manifest::ChunksOf(hole) : hole / core::kChunkBytes;
  *chunks = static_cast<uint32_t>(std::min<uint64_t>(whole, core::kMaxHoleChunks));
  // As for data: check after looking and before sending.
  return *chunks == 0 ? Status::Ok() : Sources::CheckUnchanged(fd_.get(), entry_);
}

// Treats everything as data where the file system cannot report holes.
SourceFile::Extent SourceFile::ExtentAt(uint64_t offset) const {
  const off_t data = lseek(fd_.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0 && errno == ENXIO) return {offset, entry_.size, entry_.size};
  if (data < 0) return {offset, offset, entry_.size};
  const off_t end = lseek(fd_.get(), data, SEEK_HOLE);
  const auto within = [this](off_t at) { return std::min(static_cast<uint64_t>(at), entry_.size); };
  return {offset, within(data), end < 0 ? entry_.size : within(end)};
}

Status SourceFile::ReadChunk(const Sources& sources, uint32_t chunk, uint8_t* to, size_t* bytes) {
  const uint64_t offset = uint64_t{chunk} * core::kChunkBytes;
  *bytes = static_cast<size_t>(std::min<uint64_t>(core::kChunkBytes, entry_.size - offset));
  if (sources.IsGenerated(index_, entry_)) {
    core::FillWithSyntheticData(offset, to, *bytes);
    return Status::Ok();
  }
  {
    const std::scoped_lock lock(mutex_);
    if (const Status status = Open(sources); !status.ok()) return status;
  }
  const ssize_t got = core::ReadWhole(fd_.get(), to, *bytes, offset);
  if (got < 0) return Status::FromErrno(errno == EISDIR ? Code::kSourceChanged : Code::kSourceUnreadable);
  if (got < static_cast<ssize_t>(*bytes)) return Status::Of(Code::kSourceChanged);
  return Sources::CheckUnchanged(fd_.get(), entry_);
}

}  // namespace keibi::send
