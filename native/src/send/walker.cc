// SPDX-License-Identifier: MPL-2.0
#include "send/walker.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/limits.h"
#include "disk/beneath.h"
#include "manifest/dir_entry.h"
#include "platform/owned_dir.h"

namespace keibi::send {
using core::Code;
using core::Status;

Status OpenRoot(const Root& root, int flags, core::Fd* fd) {
  if (root.beneath.empty()) {
    *fd = core::Fd(open(root.path.c_str(), flags | O_CLOEXEC));
    return fd->valid() ? Status::Ok() : manifest::SourceError();
  }
  core::Fd folder;
  const Status status = disk::OpenFolder(root.beneath, &folder);
  return status.ok() ? disk::OpenBeneath(folder.get(), root.path, flags, fd) : status;
}

WalkTotals Walker::Run() {
  // All roots first: a top entry's number is then its position in tops_, and the other side can show names at once.
  tops_->reserve(roots_.size());  // lanes read it as soon as the first page is out
  bool going = true;
  for (size_t i = 0; going && i < roots_.size(); i++) going = AddRoot(roots_[i]);
  going = Flush(/*whatever_there_is=*/true) && going;
  while (going && !pending_.empty()) {
    Pending next = std::move(pending_.back());
    pending_.pop_back();
    going = AddChildren(std::move(next));
  }
  // Also flushes a full table: its entries are sent, and the rest is reported as a problem.
  Flush(/*whatever_there_is=*/true);
  totals_.entries = table_->size();
  return totals_;
}

bool Walker::AddRoot(const Root& root) {
  if (!root.beneath.empty()) return AddRootBeneath(root);
  struct stat status {};
  if (root.path.empty()) {
    status.st_mode = (root.generated_bytes > 0 ? S_IFREG : S_IFIFO) | 0644;
    status.st_size = static_cast<off_t>(root.generated_bytes);
    status.st_blocks = status.st_size / 512 + 1;  // no holes
    clock_gettime(CLOCK_REALTIME, &status.st_mtim);
  } else if (stat(root.path.c_str(), &status) != 0) {
    Problem(manifest::kTop, manifest::SourceError(), root.name);
    return true;
  }
  const bool readable = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || root.path.empty();
  if (!readable || !manifest::IsAcceptableName(root.name) || root.name.starts_with(manifest::kStagingName)) {
    Problem(manifest::kTop, Status::Of(readable ? Code::kNameUnsendable : Code::kSourceUnsupported), root.name);
    return true;
  }
  if (manifest::IsTooLong(status)) {
    Problem(manifest::kTop, Status::Of(Code::kLimitExceeded), root.name);
    return true;
  }
  tops_->push_back(root);
  manifest::Entry entry = manifest::EntryOf(status);
  entry.name = root.name;
  return Add(entry, nullptr);
}

bool Walker::AddRootBeneath(const Root& root) {
  core::Fd folder, parent;
  std::string name;
  manifest::DirEntry child;
  Status status = disk::OpenFolder(root.beneath, &folder);
  if (status.ok()) status = disk::OpenParentBeneath(folder.get(), root.path, &parent, &name);
  if (status.ok()) status = manifest::LookAt(parent.get(), name.c_str(), &child);
  if (status.ok() && root.name.starts_with(manifest::kStagingName)) status = Status::Of(Code::kPathRefused);
  if (!status.ok()) {
    Problem(manifest::kTop, status, root.name);
    return true;
  }
  tops_->push_back(root);
  child.entry.name = root.name;
  return Add(child.entry, nullptr);
}

bool Walker::AddChildren(Pending pending) {
  disk::SharedFd handle;
  if (const Status status = dirs_->Get(pending.directory, &handle); !status.ok()) {
    Problem(pending.directory, status, table_->PathOf(pending.directory));
    return true;
  }
  // fdopendir takes over its descriptor, and a duplicate would share the read position with the cached one.
  const int own = openat(handle->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const platform::OwnedDir directory(own < 0 ? nullptr : fdopendir(own));
  if (!directory) {
    Problem(pending.directory, manifest::SourceError(), table_->PathOf(pending.directory));
    return true;
  }
  if (const Status status = selection_.Enter(own, pending.folder, &pending.scope); !status.ok()) {
    Problem(pending.directory, status, table_->PathOf(pending.directory) + "/.gitignore");
    return true;
  }
  for (errno = 0; const dirent* child = readdir(directory.get()); errno = 0) {
    const std::string_view name = child->d_name;
    if (name == "." || name == "..") continue;
    if (!AddChild(own, pending, child->d_name)) return false;
  }
  if (errno != 0) Problem(pending.directory, manifest::SourceError(), table_->PathOf(pending.directory));
  return true;
}

bool Walker::AddChild(int directory, const Pending& parent, const char* name) {
  manifest::DirEntry child;
  Status status = manifest::LookAt(directory, name, &child);
  const bool too_deep = status.ok() && parent.depth + 1 > core::kMaxDepth;
  // A person did not type this path: every peer would refuse the name on this disk.
  if (too_deep || status.code == Code::kPathRefused) status = Status::Of(Code::kNameUnsendable);
  const bool is_directory = status.ok() && child.entry.type == manifest::EntryType::kDirectory;
  if (selection_.active() && selection_.LeavesOut(parent.scope.get(), parent.folder + name, is_directory)) {
    totals_.left_out++;
    return true;
  }
  if (!status.ok()) {
    Problem(manifest::kTop, status, table_->PathOf(parent.directory) + "/" + name);
    return true;
  }
  child.entry.parent = parent.directory;
  return Add(child.entry, &parent);
}

bool Walker::Add(const manifest::Entry& entry, const Pending* parent) {
  const uint32_t index = table_->Append(entry);
  if (index == manifest::kTop) {
    Problem(manifest::kTop, Status::Of(Code::kLimitExceeded),
            table_->PathOf(entry.parent) + "/" + std::string(entry.name));
    return false;
  }
  if (entry.IsFile()) {
    totals_.files++;
    totals_.bytes += entry.size;
  }
  if (entry.type == manifest::EntryType::kDirectory) {
    Pending pending{index, parent == nullptr ? 0 : parent->depth + 1};
    if (parent != nullptr && selection_.active()) {
      pending.folder = parent->folder + std::string(entry.name) + "/";
      pending.scope = parent->scope;
    }
    pending_.push_back(std::move(pending));
  }
  return Flush(/*whatever_there_is=*/false);
}

bool Walker::Flush(bool whatever_there_is) {
  const size_t bytes = table_->OpenPageBytes();
  if (bytes == 0 || (bytes < manifest::EntryTable::kPageTargetBytes && !whatever_there_is)) return true;
  return events_.on_page(table_->ClosePage());
}

void Walker::Problem(uint32_t entry, Status status, std::string_view path) {
  events_.on_problem({entry, status, manifest::EscapedPath(path)});
}

}  // namespace keibi::send
