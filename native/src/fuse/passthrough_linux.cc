// SPDX-License-Identifier: MPL-2.0
#include <linux/fuse.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "fuse/library.h"
#include "fuse/passthrough.h"

// libfuse supports this from 3.17 on: before that we complete the answers to INIT and OPEN on their way to the kernel.
// The kernel headers may be too old as well (include/uapi/linux/fuse.h, 7.40).
namespace keibi::fuse {
namespace {

constexpr uint32_t kInitExt = uint32_t{1} << 30;  // FUSE_INIT_EXT: flags2 are present
constexpr uint32_t kHandleKillPrivV2 = uint32_t{1} << 28;
constexpr uint32_t kPassthrough2 = uint32_t{1} << 5;  // FUSE_PASSTHROUGH, 1 << 37, in flags2
constexpr uint32_t kOpenPassthrough = 1 << 7;         // FOPEN_PASSTHROUGH
constexpr uint32_t kOpenKeepCache = 1 << 1;           // FOPEN_KEEP_CACHE
constexpr uint32_t kStackDepth = 1;                   // of a cache on a file system that is not stacked

struct InitIn {
  uint32_t major, minor, max_readahead, flags, flags2;
};
struct InitOut {
  uint32_t major, minor, max_readahead, flags;
  uint16_t max_background, congestion_threshold;
  uint32_t max_write, time_gran;
  uint16_t max_pages, map_alignment;
  uint32_t flags2, max_stack_depth, unused[6];
};
struct OpenOut {
  uint64_t fh;
  uint32_t open_flags;
  uint32_t backing_id;
};
struct BackingMap {
  int32_t fd;
  uint32_t flags;
  uint64_t padding;
};
static_assert(sizeof(InitOut) == 64 && sizeof(InitOut) == sizeof(fuse_init_out) && offsetof(InitOut, flags2) == 32);
static_assert(sizeof(OpenOut) == sizeof(fuse_open_out) && offsetof(OpenOut, backing_id) == 12);
static_assert(sizeof(BackingMap) == 16);

constexpr unsigned long kBackingOpen = _IOW(229, 1, BackingMap);
constexpr unsigned long kBackingClose = _IOW(229, 2, uint32_t);

// Flags to add to this thread's next answer: libfuse sends it within the call that answers.
thread_local bool completes_init = false;
thread_local uint32_t init_flags = 0;
// Whether the one mount of this process passes files through; set before its first request.
bool passes_files = false;
thread_local uint32_t passes = 0;

}  // namespace

void Passthrough::Attach(fuse_session* session, bool passes) {
  session_ = session;
  passes_files = passes;
  fuse_custom_io io{};
  io.read = OnRequest;
  io.writev = OnReply;
  possible_ = SetCustomIo(session, io) && passes;
}

ssize_t Passthrough::OnRequest(int fd, void* buffer, size_t length, void*) {
  const ssize_t received = read(fd, buffer, length);
  fuse_in_header head;
  if (received < static_cast<ssize_t>(sizeof head + sizeof(InitIn))) return received;
  std::memcpy(&head, buffer, sizeof head);
  if (head.opcode != FUSE_INIT) return received;
  InitIn init;
  std::memcpy(&init, static_cast<const uint8_t*>(buffer) + sizeof head, sizeof init);
  const bool offers = (init.flags & kInitExt) != 0 && (init.flags2 & kPassthrough2) != 0;
  completes_init = offers && passes_files;
  // There are no set-uid bits or capabilities here: the kernel need not check for them before each write.
  init_flags = passes_files ? 0 : init.flags & kHandleKillPrivV2;
  return received;
}

ssize_t Passthrough::OnReply(int fd, iovec* parts, int count, void*) {
  if (count == 2 && (completes_init || init_flags != 0) && parts[1].iov_len == sizeof(InitOut)) {
    auto* const init = static_cast<InitOut*>(parts[1].iov_base);
    init->flags |= std::exchange(init_flags, 0);
    if (std::exchange(completes_init, false)) {
      init->flags |= kInitExt;
      init->flags2 |= kPassthrough2;
      init->max_stack_depth = kStackDepth;
    }
  } else if (count == 2 && passes != 0 && parts[1].iov_len == sizeof(OpenOut)) {
    auto* const open = static_cast<OpenOut*>(parts[1].iov_base);
    open->open_flags = (open->open_flags & ~kOpenKeepCache) | kOpenPassthrough;
    open->backing_id = passes;
  }
  return writev(fd, parts, count);
}

Passthrough::How Passthrough::Opened(uint64_t ino, const std::string& key, int fd, const std::function<bool()>& hold) {
  const std::scoped_lock lock(mutex_);
  Inode& inode = inodes_[ino];
  if (inode.opens++ > 0) {
    if (inode.backing == 0) return How::kCached;
    return inode.key == key ? How::kPassed : How::kDirect;
  }
  if (!possible_ || !hold()) return How::kCached;
  BackingMap map{fd, 0, 0};
  const int backing = ioctl(fuse_session_fd(session_), kBackingOpen, &map);
  if (backing <= 0) {
    possible_ = false;  // an older kernel, no privilege, or an unsuitable file system of the cache
    return How::kCached;
  }
  inode.backing = static_cast<uint32_t>(backing);
  inode.key = key;
  return How::kPassed;
}

void Passthrough::Closed(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  const auto found = inodes_.find(ino);
  if (found == inodes_.end() || --found->second.opens > 0) return;
  if (uint32_t backing = found->second.backing; backing != 0) ioctl(fuse_session_fd(session_), kBackingClose, &backing);
  inodes_.erase(found);
}

int Passthrough::Reply(fuse_req_t request, uint64_t ino, fuse_file_info* info, How how) {
  if (how == How::kDirect) {
    info->direct_io = 1;
    info->keep_cache = 0;
  }
  if (how == How::kPassed) {
    const std::scoped_lock lock(mutex_);
    passes = inodes_[ino].backing;
  }
  const int error = fuse_reply_open(request, info);
  passes = 0;
  return error;
}

}  // namespace keibi::fuse
