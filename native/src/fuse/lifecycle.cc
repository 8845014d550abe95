// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "fuse/library.h"
#include "fuse/mounted_folder.h"
#include "fuse/operations.h"
#include "fuse/server.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using mount::InodeTable;
using mount::Type;

constexpr unsigned kMostRequests = 64;  // of the kernel's read-ahead
constexpr unsigned kThreads = 4;
constexpr std::chrono::milliseconds kUnmountPause{mount::rules::kUnmountPauseMs};
constexpr std::chrono::milliseconds kForcedPatience{mount::rules::kForcedPatienceMs};
constexpr int kEnded = 0;
constexpr int kNotAvailable = 6;

}  // namespace

void Server::Init(fuse_conn_info* connection) {
  connection->max_read = kMostReadBytes;
  connection->max_write = kMostWriteBytes;
  connection->max_background = kMostRequests;
  connection->congestion_threshold = kMostRequests * 3 / 4;
  // Measured: slower than one copy of our own.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  connection->want |= connection->capable & FUSE_CAP_CACHE_SYMLINKS;
  if (!parts_.options.locks) connection->want &= ~static_cast<unsigned>(FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS);
}

bool Server::Mount(int* error) {
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  const std::string options = std::string(parts_.options.writable ? "rw" : "ro") +
                              ",noatime,default_permissions,auto_unmount,max_read=" + std::to_string(kMostReadBytes) +
                              ",subtype=keibidrop,fsname=" + parts_.options.name;
  for (const char* word : {"keibidrop-mount", "-o", options.c_str()}) {
    if (fuse_opt_add_arg(&arguments, word) != 0) return false;
  }
  session_ = NewSession(&arguments, Operations(), this);
  fuse_opt_free_args(&arguments);
  errno = 0;
  const bool mounted = session_ != nullptr && fuse_session_mount(session_, parts_.options.folder.c_str()) == 0;
  *error = errno;
  return mounted;
}

void Server::OnRequest() {
  if (!asked_.load(std::memory_order_relaxed) && !asked_.exchange(true))
    parts_.read_ahead.Attach(parts_.options.folder);
}

int Server::Run() {
  std::thread([this] { Serve(); }).detach();
  int error = 0;
  if (!Mount(&error)) {
    const char* const reason = error == 0 ? "fusermount3 refuses" : std::strerror(error);
    parts_.link.Notify(Type::kFailed, mount::message::Failed{static_cast<uint32_t>(error), reason}.Body());
    return kNotAvailable;
  }
  // Overlays of a writable file change it without the kernel's knowledge, so it cannot be passed.
  parts_.passthrough.Attach(session_, !parts_.options.writable);
  parts_.notifier.Begin(session_);
  parts_.link.Notify(Type::kMounted, mount::Writer());
  const int code = ServeSession(session_, kThreads) == 0 ? kEnded : kNotAvailable;
  // The folder was unmounted: send the written bytes. After a forced unmount the process has already exited.
  if (parts_.write_back.Drain(parts_.options.patience) > 0) LeaveUnsent();
  return code;
}

void Server::LeaveUnsent() {
  const size_t files = parts_.write_back.LeaveUnsent();
  parts_.link.Notify(Type::kLost, mount::message::Lost{static_cast<uint32_t>(files)}.Body());
  parts_.link.WaitSent(kForcedPatience);
}

void Server::RefuseUnmount(size_t unsent) {
  parts_.link.Notify(Type::kBusy, mount::message::Busy{static_cast<uint32_t>(unsent)}.Body());
}

void Server::Serve() {
  parts_.link.Run([this](Type type, mount::Reader body) { OnDaemon(type, body); });
  // Every request has been answered. Threads of libfuse may stay in the kernel until the last program has left the
  // folder; the process does not wait for them.
  parts_.notifier.End(kForcedPatience);
  Unmount(parts_.options.folder, true);
  _exit(kEnded);
}

void Server::Leave(bool forced) {
  if (forced) {
    const size_t unsent = parts_.write_back.Drain(std::min(parts_.options.patience, kForcedPatience));
    parts_.notifier.End(kForcedPatience);
    Unmount(parts_.options.folder, true);
    if (unsent > 0) LeaveUnsent();
    _exit(kEnded);
  }
  if (const size_t unsent = parts_.write_back.Drain(parts_.options.patience); unsent > 0) return RefuseUnmount(unsent);
  int error = Unmount(parts_.options.folder, false);
  // Programs that inspect each new mount finish in a moment.
  for (int tries = 0; error == EBUSY && tries < mount::rules::kUnmountTries; tries++) {
    std::this_thread::sleep_for(kUnmountPause);
    error = Unmount(parts_.options.folder, false);
  }
  if (error == EBUSY) RefuseUnmount(0);
}

void Server::OnDaemon(Type type, mount::Reader body) {
  switch (type) {
    case Type::kChanges:
      return OnChanges(body);
    case Type::kWatched:
      return parts_.notifier.Notify(parts_.inodes.Watch(mount::message::Watched::Parse(body).flag));
    case Type::kAway:
      return SetAway(mount::message::Away::Parse(body).flag);
    case Type::kLocksLost:
      return parts_.locking.Lost();
    case Type::kUnmount:
      // On another thread: the kernel may send a request first.
      std::thread([this, forced = mount::message::Unmount::Parse(body).flag] { Leave(forced); }).detach();
      return;
    default:
      return;
  }
}

void Server::OnChanges(mount::Reader body) {
  for (const auto& [kind, path] : mount::message::Changes::Parse(body).changes) {
    if (kind < mount::ChangeNotices::Change::kReplaced || kind > mount::ChangeNotices::Change::kCreated) return;
    std::vector<uint64_t> look;
    parts_.notifier.Notify(parts_.inodes.notices().Apply(kind, path, &look));
    for (const uint64_t ino : look) parts_.requests.Verify(ino);
  }
}

void Server::SetAway(bool away) {
  parts_.link.SetAway(away);
  parts_.inodes.SetAway(away);
  parts_.prefetch.SetAway(away);
  parts_.write_back.SetAway(away);
  if (!away) return;
  for (const Type type : {Type::kLook, Type::kList}) parts_.link.FinishAsked(type, kPeerAway);
}

}  // namespace keibi::fuse
