// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "fuse/server.h"

// Writes: they go into overlays.
namespace keibi::fuse {
namespace {

using mount::Found;
using mount::InodeTable;
using mount::OverlayFile;
using mount::Type;
using stream::EntryType;

// Size up to which a written file is fetched in the background.
constexpr uint64_t kMostFetchedBytes = mount::rules::kWholeWriteBytes;
constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

int64_t Server::Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

std::shared_ptr<OverlayFile> Server::OverlayOf(uint64_t ino) {
  std::shared_ptr<OverlayFile> overlay = write_back_.Find(ino);
  if (overlay == nullptr || overlay->NeedsPut(false)) return overlay;
  // Everything was sent, and another peer has changed the file since: the overlay is out of date.
  Found found;
  if (inodes_.Look(ino, true, &found) != InodeTable::Known::kYes || found.gone) return overlay;
  if (overlay->base() == mount::Version{found.attributes.size, found.attributes.mtime_ns}) return overlay;
  if (overlay->NeedsPut(false)) return overlay;
  write_back_.Drop(ino, overlay);
  return write_back_.Find(ino);
}

int Server::MakeOverlay(uint64_t ino, bool bare, std::shared_ptr<OverlayFile>* overlay) {
  *overlay = OverlayOf(ino);
  if (*overlay != nullptr) return 0;
  Found found;
  if (inodes_.Look(ino, true, &found) != InodeTable::Known::kYes) return ESTALE;
  if (found.attributes.type != EntryType::kFile)
    return found.attributes.type == EntryType::kDirectory ? EISDIR : EINVAL;
  std::shared_ptr<stream::CacheFile> file;
  std::string path;
  InodeTable::Doubt doubt;
  // Reuse what is already cached of it.
  if (!bare && found.attributes.size > 0 && inodes_.Ask(ino, &path, &doubt)) {
    std::shared_ptr<Content> content;
    if (contents_.Open(path, found.attributes, &content).ok()) {
      content->kept = true;
      file = {content, content->file.get()};
    }
    // If another peer changes it too, our conflict copy must be whole.
    const bool small = found.attributes.size <= kMostFetchedBytes;
    if (file != nullptr && small && !file->HasAll(0, file->blocks())) AskAhead(ino, content, {0, file->blocks()});
  }
  return write_back_.Make(ino, {found.attributes.size, found.attributes.mtime_ns}, std::move(file), overlay);
}

void Server::Write(fuse_req_t request, uint64_t ino, const uint8_t* bytes, size_t length, uint64_t offset,
                   bool append) {
  int error = write_back_.TakeError(ino);
  if (error == 0 && locking_.IsLost(ino)) error = EIO;
  std::shared_ptr<OverlayFile> overlay = OverlayOf(ino);
  Found found;
  const bool ask = error == 0 && overlay == nullptr && inodes_.Look(ino, false, &found) == InodeTable::Known::kAsk;
  if (error == 0 && (ask || write_back_.IsFull())) {
    // The kernel's buffer is freed when this returns.
    auto copy = std::make_shared<std::vector<uint8_t>>(bytes, bytes + length);
    return Later(
        request,
        [=, this](fuse_req_t later, int failure) {
          if (failure == 0) return Write(later, ino, copy->data(), length, offset, append);
          fuse_reply_err(later, failure);
        },
        [&](Then then) { ask ? AskLook(ino, std::move(then)) : write_back_.WhenRoom(std::move(then)); });
  }
  if (error == 0) error = MakeOverlay(ino, false, &overlay);
  if (error == 0 && append) {
    // We know the end better than the kernel, which then has pages at the wrong place.
    if (overlay->version().size != offset) notifier_.Notify({{0, {}, ino, true}});
    error = overlay->Append(bytes, length, Now());
  } else if (error == 0) {
    error = overlay->Write(offset, bytes, length, Now());
  }
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  if (!write_back_.Changed(ino, overlay)) return Write(request, ino, bytes, length, offset, append);
  fuse_reply_write(request, length);
}

// After close(2) the next open, on either side, finds all bytes written so far.
void Server::Flush(fuse_req_t request, uint64_t ino, const Handle& handle, uint64_t owner) {
  // Closing any descriptor of a file releases the locks of its process.
  const Locking::Owner program{owner, false};
  const bool locked = locking_.Has(ino, program);
  const int error = handle.writes ? write_back_.TakeError(ino) : 0;
  const bool clean = !handle.writes || error != 0 || write_back_.Find(ino) == nullptr;
  if (clean && handle.writes) write_back_.SendSoon(ino);
  if (clean && !locked) {
    fuse_reply_err(request, error);
    return;
  }
  Later(
      request,
      [this, ino, error](fuse_req_t later, int failure) {
        // This reply reports the error; drop it, so that it is reported once.
        if (failure != 0) write_back_.TakeError(ino);
        fuse_reply_err(later, error != 0 ? error : failure);
      },
      [&](Then then) {
        const auto drop = [this, ino, program, then](int failure) {
          locking_.Drop(ino, program, [then, failure](int) { then(failure); });
        };
        clean ? drop(0) : write_back_.WhenClosed(ino, drop);
      });
}

void Server::Sync(fuse_req_t request, uint64_t ino, bool answered) {
  if (locking_.IsLost(ino)) {
    fuse_reply_err(request, EIO);
    return;
  }
  std::shared_ptr<OverlayFile> overlay = OverlayOf(ino);
  if (overlay == nullptr && write_back_.IsUnsynced(ino) && !answered) {
    return Later(
        request,
        [this, ino](fuse_req_t later, int error) {
          if (error == 0) return Sync(later, ino, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { AskLook(ino, std::move(then)); });
  }
  if (overlay == nullptr && write_back_.IsUnsynced(ino)) MakeOverlay(ino, true, &overlay);
  // An earlier failure does not matter if this sync succeeds.
  write_back_.TakeError(ino);
  Later(
      request, [](fuse_req_t later, int error) { fuse_reply_err(later, error); },
      [&](Then then) { write_back_.Sync(ino, std::move(then)); });
}

void Server::ReplyAttributes(fuse_req_t request, uint64_t ino) { GetAttributes(request, ino, true); }

void Server::SetAttributes(fuse_req_t request, uint64_t ino, const struct stat& wanted, int what, bool answered) {
  const bool owner = ((what & FUSE_SET_ATTR_UID) != 0 && wanted.st_uid != getuid()) ||
                     ((what & FUSE_SET_ATTR_GID) != 0 && wanted.st_gid != getgid());
  const bool bits = (what & FUSE_SET_ATTR_MODE) != 0 && (wanted.st_mode & kRefusedBits) != 0;
  int refused = owner || bits ? EPERM : 0;
  constexpr int kMtime = FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW;
  constexpr int kAtime = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW;
  // Access times are not stored. Programs that copy set them along with the mtime, so only a lone atime is refused.
  if ((what & kAtime) != 0 && (what & kMtime) == 0) refused = EOPNOTSUPP;
  // Refuse times that 64 bits of nanoseconds cannot hold: before 1677, and from 2262 on.
  const bool given = (what & FUSE_SET_ATTR_MTIME) != 0 && (what & FUSE_SET_ATTR_MTIME_NOW) == 0;
  if (given && std::abs(int64_t{wanted.st_mtim.tv_sec}) > INT64_MAX / kNsPerSecond - 1) refused = EINVAL;
  if (refused != 0) {
    fuse_reply_err(request, refused);
    return;
  }
  Found found;
  const InodeTable::Known known = inodes_.Look(ino, answered, &found);
  if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, ESTALE);
    return;
  }
  if (known == InodeTable::Known::kAsk) {
    return Later(
        request,
        [this, ino, wanted, what](fuse_req_t later, int error) {
          if (error == 0) return SetAttributes(later, ino, wanted, what, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { AskLook(ino, std::move(then)); });
  }
  if ((what & FUSE_SET_ATTR_SIZE) != 0) {
    const mount::WriteBack::Use use(&write_back_, ino);
    std::shared_ptr<OverlayFile> overlay;
    int error = write_back_.TakeError(ino);
    if (error == 0) error = MakeOverlay(ino, wanted.st_size == 0, &overlay);
    if (error == 0) error = overlay->Truncate(static_cast<uint64_t>(wanted.st_size), Now());
    if (error != 0) {
      fuse_reply_err(request, error);
      return;
    }
    write_back_.Changed(ino, overlay);
  }
  const bool now = (what & FUSE_SET_ATTR_MTIME_NOW) != 0;
  const bool timed = now || (what & FUSE_SET_ATTR_MTIME) != 0;
  const int64_t mtime_ns = now ? Now() : int64_t{wanted.st_mtim.tv_sec} * kNsPerSecond + wanted.st_mtim.tv_nsec;
  const bool file = found.attributes.type == EntryType::kFile;
  const bool moded = (what & FUSE_SET_ATTR_MODE) != 0;
  const bool plain = timed && !file;
  if (!moded && !plain) return timed ? SetTimes(request, ino, mtime_ns) : ReplyAttributes(request, ino);
  std::string path;
  InodeTable::Doubt doubt;
  if (!inodes_.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  const mount::message::Change change{.what = static_cast<uint8_t>((moded ? 1 : 0) | (plain ? 2 : 0)),
                                      .mode = static_cast<uint16_t>(wanted.st_mode & 0777),
                                      .mtime_ns = mtime_ns,
                                      .path = path};
  const uint64_t ticket = pending_requests_.Add(request);
  link_.Ask(Type::kChange, change.Body(), EntryAnswer([=, this](int error, const stream::Entry& entry, mount::Reader) {
              // A pending put may change the size and time of a file: those are applied when it is done.
              if (error == 0) inodes_.Changed(ino, entry, plain ? InodeTable::What::kAll : InodeTable::What::kMode);
              fuse_req_t later;
              if (!pending_requests_.Take(ticket, &later)) return;
              if (error != 0) {
                fuse_reply_err(later, error);
              } else if (timed && !plain) {
                SetTimes(later, ino, mtime_ns);
              } else {
                ReplyAttributes(later, ino);
              }
            }));
}

// For a file: its base version is recognised by the time, so the time is sent along with the bytes.
void Server::SetTimes(fuse_req_t request, uint64_t ino, int64_t mtime_ns) {
  const mount::WriteBack::Use use(&write_back_, ino);
  std::shared_ptr<OverlayFile> overlay;
  if (const int error = MakeOverlay(ino, false, &overlay); error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  const bool waits = !overlay->NeedsPut(false);
  overlay->SetMtime(mtime_ns);
  write_back_.Changed(ino, overlay);
  if (!waits) return ReplyAttributes(request, ino);
  Later(
      request,
      [this, ino](fuse_req_t later, int error) {
        if (error == 0) return ReplyAttributes(later, ino);
        fuse_reply_err(later, error);
      },
      [&](Then then) { write_back_.WhenSent(ino, options_.patience, std::move(then)); });
}

}  // namespace keibi::fuse
