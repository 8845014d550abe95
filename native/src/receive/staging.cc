// SPDX-License-Identifier: MPL-2.0
#include "receive/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "platform/owned_dir.h"
#include "platform/write_at.h"

namespace keibi::receive {

using core::Code;
using core::Status;

namespace {

constexpr int kMostFolders = 100;
constexpr unsigned kMostThreadFolders = 16;
constexpr const char* kLock = "lock";

}  // namespace

Status Staging::Open(int destination) {
  destination_ = destination;
  for (int i = 1; i <= kMostFolders; i++) {
    const Status status =
        Take(destination, std::string(manifest::kStagingName) + (i == 1 ? "" : "-" + std::to_string(i)));
    if (status.ok()) return Sweep();
    if (status.system_error != EWOULDBLOCK) return status;
  }
  return Status::Of(Code::kDestinationUnusable, EBUSY);
}

// EWOULDBLOCK when another job holds it, or when it belongs to a user who could change the files we place.
Status Staging::Take(int destination, const std::string& name) {
  const Status busy = Status::Of(Code::kDestinationUnusable, EWOULDBLOCK);
  if (mkdirat(destination, name.c_str(), 0700) != 0 && errno != EEXIST)
    return platform::WriteError(Code::kDestinationUnusable);
  core::Fd folder(openat(destination, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return errno == ENOENT ? busy : Status::FromErrno(Code::kDestinationUnusable);
  struct stat ours, around;
  if (fstat(folder.get(), &ours) != 0 || fstat(destination, &around) != 0) return busy;
  if (ours.st_uid != geteuid() && ours.st_uid != around.st_uid) return busy;
  core::Fd lock(openat(folder.get(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return errno == ENOENT ? busy : platform::WriteError(Code::kDestinationUnusable);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  // The former owner may have removed the folder between our open and our lock.
  struct stat locked, named;
  if (fstat(lock.get(), &locked) != 0 || fstatat(folder.get(), kLock, &named, AT_SYMLINK_NOFOLLOW) != 0) return busy;
  if (locked.st_ino != named.st_ino) return busy;
  name_ = name;
  folder_ = std::move(folder);
  lock_ = std::move(lock);
  return Status::Ok();
}

std::string Staging::SmallFileName(uint32_t entry) {
  static std::atomic<unsigned> threads{0};
  static thread_local const unsigned thread = threads.fetch_add(1) % kMostThreadFolders;
  return "s-t" + std::to_string(thread) + "/" + std::to_string(entry);
}

template <typename See>
void Staging::ForEach(int folder, See see) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const platform::OwnedDir listing(own < 0 ? nullptr : fdopendir(own));
  while (const dirent* child = listing ? readdir(listing.get()) : nullptr) see(std::string(child->d_name));
}

// Drops useless remains of an earlier run. Learns the umask from a probe file, since setting it would affect the whole
// process.
Status Staging::Sweep() {
  RemoveStaged();
  ForEach(folder_.get(), [this](const std::string& name) {
    if (IsOrphan(name)) Remove(name);
    if (name.ends_with(".map")) had_parts_ = true;
  });
  core::Fd probe(openat(folder_.get(), "s-umask", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777));
  struct stat status;
  if (!probe.valid() || fstat(probe.get(), &status) != 0) return platform::WriteError(Code::kDestinationUnusable);
  umask_ = 0777 & ~status.st_mode;
  Remove("s-umask");
  return Status::Ok();
}

// Data without a map: it is unknown which of its chunks are there.
bool Staging::IsOrphan(const std::string& name) const {
  constexpr std::string_view kData = ".data";
  if (!name.ends_with(kData)) return false;
  const std::string map = name.substr(0, name.size() - kData.size()) + ".map";
  return faccessat(folder_.get(), map.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

Status Staging::Create(const std::string& name, mode_t mode, core::Fd* fd) const {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  *fd = core::Fd(openat(folder_.get(), name.c_str(), kFlags, mode));
  const size_t slash = name.find('/');
  if (!fd->valid() && errno == ENOENT && slash != std::string::npos) {
    // This is a thread's first small file.
    if (mkdirat(folder_.get(), name.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST)
      return platform::WriteError(Code::kDestinationUnusable);
    *fd = core::Fd(openat(folder_.get(), name.c_str(), kFlags, mode));
  }
  if (!fd->valid()) return platform::WriteError(Code::kDestinationUnusable);
  if ((mode & umask_) != 0 && fchmod(fd->get(), mode) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  return Status::Ok();
}

void Staging::Remove(const std::string& name) const { unlinkat(folder_.get(), name.c_str(), 0); }

void Staging::RemoveStaged() const {
  ForEach(folder_.get(), [this](const std::string& name) {
    if (!name.starts_with("s-") || unlinkat(folder_.get(), name.c_str(), 0) == 0) return;
    const core::Fd folder(openat(folder_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.valid()) return;
    ForEach(folder.get(), [&](const std::string& file) { unlinkat(folder.get(), file.c_str(), 0); });
    unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR);
  });
}

void Staging::Close() {
  if (!folder_.valid()) return;
  RemoveStaged();
  // Only an empty folder can be removed, so the lock goes first and comes back if parts are left.
  Remove(kLock);
  if (unlinkat(destination_, name_.c_str(), AT_REMOVEDIR) != 0) {
    core::Fd(openat(folder_.get(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  folder_.Close();
  lock_.Close();
}

}  // namespace keibi::receive
