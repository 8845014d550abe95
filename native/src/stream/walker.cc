// SPDX-License-Identifier: MPL-2.0
#include "stream/walker.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "core/limits.h"
#include "stream/bitmap.h"
#include "stream/file_time.h"

namespace keibi::stream {
namespace {

using core::Code;
using core::Status;

Status SourceError() {
  return Status::FromErrno(errno == ENOENT || errno == ENOTDIR ? Code::kSourceMissing : Code::kSourceUnreadable);
}

// Takes up less of the disk than it is long. A file that the disk compresses looks the same, which does no harm.
bool IsSparse(const struct stat& status) {
  constexpr off_t kBlockBytes = 512;  // of st_blocks (stat(3type))
  return status.st_size > static_cast<off_t>(core::kChunkBytes) && status.st_blocks < status.st_size / kBlockBytes;
}

// Sparse files can be longer than any disk.
bool IsTooLong(const struct stat& status) {
  return S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) > (IsSparse(status) ? core::kMaxSparseBytes : kMaxChunkedBytes);
}

struct CloseDir {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

Status OpenRoot(const Root& root, int flags, core::Fd* fd) {
  *fd = core::Fd(open(root.path.c_str(), flags | O_CLOEXEC));
  return fd->valid() ? Status::Ok() : SourceError();
}

WalkTotals Walker::Run() {
  // All roots first: a top entry's number is then its position in tops_, and the other side can show names at once.
  tops_->reserve(roots_.size());  // lanes read it as soon as the first page is out
  bool going = true;
  for (size_t i = 0; going && i < roots_.size(); i++) going = AddRoot(roots_[i]);
  going = Flush(/*whatever_there_is=*/true) && going;
  while (going && !pending_.empty()) {
    const Pending next = pending_.back();
    pending_.pop_back();
    going = AddChildren(next);
  }
  // Also what there is of a table that is full: it arrives, and the rest is told as a problem.
  Flush(/*whatever_there_is=*/true);
  totals_.entries = table_->size();
  return totals_;
}

bool Walker::AddRoot(const Root& root) {
  struct stat status {};
  if (root.path.empty()) {
    status.st_mode = (root.generated_bytes > 0 ? S_IFREG : S_IFIFO) | 0644;
    status.st_size = static_cast<off_t>(root.generated_bytes);
    status.st_blocks = status.st_size / 512 + 1;  // no holes
    clock_gettime(CLOCK_REALTIME, &status.st_mtim);
  } else if (stat(root.path.c_str(), &status) != 0) {
    Problem(kTop, SourceError(), root.name);
    return true;
  }
  const bool readable = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || root.path.empty();
  if (!readable || !IsAcceptableName(root.name) || root.name.starts_with(kStagingName)) {
    Problem(kTop, Status::Of(readable ? Code::kPathRefused : Code::kSourceUnsupported), root.name);
    return true;
  }
  if (IsTooLong(status)) {
    Problem(kTop, Status::Of(Code::kLimitExceeded), root.name);
    return true;
  }
  tops_->push_back(root);
  return Add(status, kTop, 0, root.name, "");
}

bool Walker::AddChildren(const Pending& pending) {
  SharedFd handle;
  if (const Status status = dirs_->Get(pending.directory, &handle); !status.ok()) {
    Problem(pending.directory, status, table_->PathOf(pending.directory));
    return true;
  }
  // fdopendir takes its descriptor over, and a duplicate would share the read position with the cached one.
  const int own = openat(handle->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDir> directory(own < 0 ? nullptr : fdopendir(own));
  if (!directory) {
    Problem(pending.directory, SourceError(), table_->PathOf(pending.directory));
    return true;
  }
  for (errno = 0; const dirent* child = readdir(directory.get()); errno = 0) {
    const std::string_view name = child->d_name;
    if (name == "." || name == "..") continue;
    if (!AddChild(own, pending, child->d_name)) return false;
  }
  if (errno != 0) Problem(pending.directory, SourceError(), table_->PathOf(pending.directory));
  return true;
}

bool Walker::AddChild(int directory, const Pending& parent, const char* name) {
  const auto problem = [&](Status status) {
    Problem(kTop, status, table_->PathOf(parent.directory) + "/" + name);
    return true;
  };
  struct stat status;
  if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return problem(SourceError());
  if (!IsAcceptableName(name) || parent.depth + 1 > core::kMaxDepth) return problem(Status::Of(Code::kPathRefused));
  std::string target;
  if (S_ISLNK(status.st_mode)) {
    target.resize(core::kMaxTargetBytes + 1);
    const ssize_t length = readlinkat(directory, name, target.data(), target.size());
    if (length <= 0) return problem(SourceError());
    target.resize(static_cast<size_t>(length));
    if (target.size() > core::kMaxTargetBytes || !IsUtf8(target)) return problem(Status::Of(Code::kPathRefused));
  } else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return problem(Status::Of(Code::kSourceUnsupported));
  }
  if (IsTooLong(status)) return problem(Status::Of(Code::kLimitExceeded));
  return Add(status, parent.directory, parent.depth + 1, name, target);
}

bool Walker::Add(const struct stat& status, uint32_t parent, uint32_t depth, const std::string& name,
                 const std::string& target) {
  Entry entry;
  entry.mode = status.st_mode & 0777;
  entry.parent = parent;
  entry.mtime_ns = MtimeNs(status);
  entry.name = name;
  entry.target = target;
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
  const uint32_t index = table_->Append(entry);
  if (index == kTop) {
    Problem(kTop, Status::Of(Code::kLimitExceeded), table_->PathOf(parent) + "/" + name);
    return false;
  }
  if (entry.IsFile()) {
    totals_.files++;
    totals_.bytes += entry.size;
  }
  if (entry.type == EntryType::kDirectory) pending_.push_back({index, depth});
  return Flush(/*whatever_there_is=*/false);
}

bool Walker::Flush(bool whatever_there_is) {
  const size_t bytes = table_->OpenPageBytes();
  if (bytes == 0 || (bytes < EntryTable::kPageTargetBytes && !whatever_there_is)) return true;
  return events_.on_page(table_->ClosePage());
}

void Walker::Problem(uint32_t entry, Status status, std::string path) {
  events_.on_problem({entry, status, std::move(path)});
}

}  // namespace keibi::stream
