// SPDX-License-Identifier: MPL-2.0
#include "stream/written_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <mutex>

#include "core/whole_io.h"
#include "stream/child.h"
#include "stream/file_time.h"
#include "stream/put_journal.h"

namespace keibi::stream {

using core::Code;
using core::Status;

namespace {

Status CallError() { return Status::FromErrno(Code::kCallFailed); }

}  // namespace

Status WrittenFile::Write(uint64_t offset, const uint8_t* data, size_t bytes) {
  const std::shared_lock lock(mutex_);
  if (!fd_.valid()) return Status::Of(Code::kCancelled);
  if (journal_) journal_->Writes(token);
  return core::WriteWhole(fd_.get(), data, bytes, offset) ? Status::Ok() : CallError();
}

Status WrittenFile::Cut(uint64_t size) {
  const std::unique_lock lock(mutex_);
  struct stat now;
  if (!fd_.valid()) return Status::Of(Code::kCancelled);
  if (fstat(fd_.get(), &now) != 0) return CallError();
  if (static_cast<uint64_t>(now.st_size) <= size) return Status::Ok();
  if (journal_) journal_->Writes(token);
  return ftruncate(fd_.get(), static_cast<off_t>(size)) == 0 ? Status::Ok() : CallError();
}

Status WrittenFile::Commit(const Finish& finish, std::vector<uint8_t>* entry, std::optional<FileState>* left) {
  const std::unique_lock lock(mutex_);
  if (!fd_.valid()) return Status::Of(Code::kCancelled);
  if (journal_) {
    journal_->Writes(token);
    journal_->Leaves(token, finish.state);
  }
  struct stat now {};
  const bool done = fstat(fd_.get(), &now) == 0 &&
                    (static_cast<uint64_t>(now.st_size) == finish.state.size ||
                     ftruncate(fd_.get(), static_cast<off_t>(finish.state.size)) == 0) &&
                    futimens(fd_.get(), FileTimes(finish.state.mtime_ns).times) == 0 &&
                    (!finish.sync || fsync(fd_.get()) == 0) && fstat(fd_.get(), &now) == 0;
  const Status status = done ? Status::Ok() : CallError();
  *left = CloseLocked();
  if (!done) return status;
  Entry written = EntryOf(now);
  written.name = name_;
  AppendEntry(entry, written);
  return status;
}

std::optional<FileState> WrittenFile::Close() {
  const std::unique_lock lock(mutex_);
  return CloseLocked();
}

std::optional<FileState> WrittenFile::CloseLocked() {
  struct stat now;
  if (!fd_.valid()) return std::nullopt;
  const bool told = fstat(fd_.get(), &now) == 0;
  fd_.Close();
  if (!told) return std::nullopt;
  const FileState left{static_cast<uint64_t>(now.st_size), MtimeNs(now)};
  if (journal_) journal_->Ends(token, left);
  return left;
}

}  // namespace keibi::stream
