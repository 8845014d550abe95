// SPDX-License-Identifier: MPL-2.0
#include "share/shared_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "disk/beneath.h"
#include "manifest/dir_entry.h"
#include "manifest/entry_table.h"

namespace keibi::share {

using core::Code;
using core::Status;

Status Listing::Next(ListingPage* page) {
  const std::scoped_lock lock(mutex_);
  manifest::DirEntry child;
  while (page->entries.size() < manifest::EntryTable::kPageTargetBytes) {
    errno = 0;
    const dirent* const found = directory_ ? readdir(directory_.get()) : nullptr;
    if (found == nullptr) {
      if (errno != 0) return Status::FromErrno(Code::kSourceUnreadable);
      page->last = true;
      directory_.reset();
      return Status::Ok();
    }
    const std::string_view name = found->d_name;
    // Skips also the unfinished files of a receiver into this folder.
    if (name == "." || name == ".." || name.starts_with(manifest::kStagingName)) continue;
    const Status status = manifest::LookAt(dirfd(directory_.get()), found->d_name, &child);
    if (status.code == Code::kSourceMissing) continue;  // it was just removed
    if (!status.ok()) {
      page->left_out++;
      continue;
    }
    manifest::AppendEntry(&page->entries, child.entry);
    page->count++;
  }
  return Status::Ok();
}

void Listing::Close() {
  const std::scoped_lock lock(mutex_);
  directory_.reset();
}

Status SharedFolder::Look(std::string_view path, std::vector<uint8_t>* entry) const {
  core::Fd folder;
  if (const Status status = disk::OpenFolder(folder_, &folder); !status.ok()) return status;
  if (path.empty()) {
    struct stat own;
    if (fstat(folder.get(), &own) != 0) return Status::FromErrno(Code::kSourceUnreadable);
    manifest::Entry itself = manifest::EntryOf(own);
    itself.name = name_;
    manifest::AppendEntry(entry, itself);
    return Status::Ok();
  }
  core::Fd parent;
  std::string name;
  if (const Status status = disk::OpenParentBeneath(folder.get(), path, &parent, &name); !status.ok()) return status;
  manifest::DirEntry child;
  if (const Status status = manifest::LookAt(parent.get(), name.c_str(), &child); !status.ok()) return status;
  manifest::AppendEntry(entry, child.entry);
  return Status::Ok();
}

Status SharedFolder::Open(std::string_view path, std::shared_ptr<Listing>* listing) const {
  core::Fd folder, own;
  if (const Status status = disk::OpenFolder(folder_, &folder); !status.ok()) return status;
  if (const Status status = disk::OpenBeneath(folder.get(), path, O_RDONLY | O_DIRECTORY, &own); !status.ok())
    return status;
  platform::OwnedDir directory(fdopendir(own.get()));
  if (!directory) return Status::FromErrno(Code::kSourceUnreadable);
  own.release();
  *listing = std::make_shared<Listing>(std::move(directory));
  return Status::Ok();
}

}  // namespace keibi::share
