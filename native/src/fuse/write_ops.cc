// SPDX-License-Identifier: MPL-2.0
#include "fuse/write_ops.h"

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

#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using manifest::EntryType;
using mount::Found;
using mount::InodeTable;
using mount::OverlayFile;
using mount::Type;

constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

void WriteOps::Write(fuse_req_t request, uint64_t ino, const uint8_t* bytes, size_t length, uint64_t offset,
                     bool append) {
  int error = parts_.write_back.TakeError(ino);
  if (error == 0 && parts_.locking.IsLost(ino)) error = EIO;
  std::shared_ptr<OverlayFile> overlay = parts_.overlays.OverlayOf(ino);
  Found found;
  const bool ask =
      error == 0 && overlay == nullptr && parts_.inodes.Look(ino, false, &found) == InodeTable::Known::kAsk;
  if (error == 0 && (ask || parts_.write_back.limit().IsFull())) {
    // The kernel's buffer is freed when this returns.
    auto copy = std::make_shared<std::vector<uint8_t>>(bytes, bytes + length);
    return parts_.requests.Later(
        request,
        [=, this](fuse_req_t later, int failure) {
          if (failure == 0) return Write(later, ino, copy->data(), length, offset, append);
          fuse_reply_err(later, failure);
        },
        [&](Then then) {
          ask ? parts_.requests.AskLook(ino, std::move(then)) : parts_.write_back.WhenRoom(std::move(then));
        });
  }
  if (error == 0) error = parts_.overlays.MakeOverlay(ino, false, &overlay);
  if (error == 0 && append) {
    // We know the end better than the kernel, which then has pages at the wrong place.
    if (overlay->version().size != offset) parts_.notifier.Notify({{0, {}, ino, true}});
    error = overlay->Append(bytes, length, parts_.overlays.Now());
  } else if (error == 0) {
    error = overlay->Write(offset, bytes, length, parts_.overlays.Now());
  }
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  if (!parts_.write_back.Changed(ino, overlay)) return Write(request, ino, bytes, length, offset, append);
  fuse_reply_write(request, length);
}

// After close(2) the next open, on either side, finds all bytes written so far.
void WriteOps::Flush(fuse_req_t request, uint64_t ino, const Handle& handle, uint64_t owner) {
  // Closing any descriptor of a file releases the locks of its process.
  const Locking::Owner program{owner, false};
  const bool locked = parts_.locking.Has(ino, program);
  const int error = handle.writes ? parts_.write_back.TakeError(ino) : 0;
  const bool clean = !handle.writes || error != 0 || parts_.write_back.Find(ino) == nullptr;
  if (clean && handle.writes) parts_.write_back.SendSoon(ino);
  if (clean && !locked) {
    fuse_reply_err(request, error);
    return;
  }
  parts_.requests.Later(
      request,
      [this, ino, error](fuse_req_t later, int failure) {
        // This reply reports the error; drop it, so that it is reported once.
        if (failure != 0) parts_.write_back.TakeError(ino);
        fuse_reply_err(later, error != 0 ? error : failure);
      },
      [&](Then then) {
        const auto drop = [this, ino, program, then](int failure) {
          parts_.locking.Drop(ino, program, [then, failure](int) { then(failure); });
        };
        clean ? drop(0) : parts_.write_back.WhenClosed(ino, drop);
      });
}

void WriteOps::Sync(fuse_req_t request, uint64_t ino, bool answered) {
  if (parts_.locking.IsLost(ino)) {
    fuse_reply_err(request, EIO);
    return;
  }
  std::shared_ptr<OverlayFile> overlay = parts_.overlays.OverlayOf(ino);
  if (overlay == nullptr && parts_.write_back.unsynced().Contains(ino) && !answered) {
    return parts_.requests.Later(
        request,
        [this, ino](fuse_req_t later, int error) {
          if (error == 0) return Sync(later, ino, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { parts_.requests.AskLook(ino, std::move(then)); });
  }
  if (overlay == nullptr && parts_.write_back.unsynced().Contains(ino))
    parts_.overlays.MakeOverlay(ino, true, &overlay);
  // An earlier failure does not matter if this sync succeeds.
  parts_.write_back.TakeError(ino);
  parts_.requests.Later(
      request, [](fuse_req_t later, int error) { fuse_reply_err(later, error); },
      [&](Then then) {
        parts_.write_back.When(ino, mount::PutWaiters::For::kSynced, parts_.options.patience, std::move(then));
      });
}

void WriteOps::SetAttributes(fuse_req_t request, uint64_t ino, const struct stat& wanted, int what, bool answered) {
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
  const InodeTable::Known known = parts_.inodes.Look(ino, answered, &found);
  if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, ESTALE);
    return;
  }
  if (known == InodeTable::Known::kAsk) {
    return parts_.requests.Later(
        request,
        [this, ino, wanted, what](fuse_req_t later, int error) {
          if (error == 0) return SetAttributes(later, ino, wanted, what, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { parts_.requests.AskLook(ino, std::move(then)); });
  }
  if ((what & FUSE_SET_ATTR_SIZE) != 0) {
    const mount::WriteBack::Use use(&parts_.write_back, ino);
    std::shared_ptr<OverlayFile> overlay;
    int error = parts_.write_back.TakeError(ino);
    if (error == 0) error = parts_.overlays.MakeOverlay(ino, wanted.st_size == 0, &overlay);
    if (error == 0) error = overlay->Truncate(static_cast<uint64_t>(wanted.st_size), parts_.overlays.Now());
    if (error != 0) {
      fuse_reply_err(request, error);
      return;
    }
    parts_.write_back.Changed(ino, overlay);
  }
  const bool now = (what & FUSE_SET_ATTR_MTIME_NOW) != 0;
  const bool timed = now || (what & FUSE_SET_ATTR_MTIME) != 0;
  const int64_t mtime_ns =
      now ? parts_.overlays.Now() : int64_t{wanted.st_mtim.tv_sec} * kNsPerSecond + wanted.st_mtim.tv_nsec;
  const bool file = found.attributes.type == EntryType::kFile;
  const bool moded = (what & FUSE_SET_ATTR_MODE) != 0;
  const bool plain = timed && !file;
  if (!moded && !plain) return timed ? SetTimes(request, ino, mtime_ns) : lookup_.ReplyAttributes(request, ino);
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  const mount::message::Change change{.what = static_cast<uint8_t>((moded ? 1 : 0) | (plain ? 2 : 0)),
                                      .mode = static_cast<uint16_t>(wanted.st_mode & 0777),
                                      .mtime_ns = mtime_ns,
                                      .path = path};
  const uint64_t ticket = parts_.pending_requests.Add(request);
  parts_.link.Ask(Type::kChange, change.Body(),
                  parts_.requests.EntryAnswer([=, this](int error, const manifest::Entry& entry, mount::Reader) {
                    // A pending put may change the size and time of a file: those are applied when it is done.
                    if (error == 0)
                      parts_.inodes.own_changes().Changed(
                          ino, entry, plain ? mount::OwnChanges::What::kAll : mount::OwnChanges::What::kMode);
                    fuse_req_t later;
                    if (!parts_.pending_requests.Take(ticket, &later)) return;
                    if (error != 0) {
                      fuse_reply_err(later, error);
                    } else if (timed && !plain) {
                      SetTimes(later, ino, mtime_ns);
                    } else {
                      lookup_.ReplyAttributes(later, ino);
                    }
                  }));
}

// For a file: its base version is recognised by the time, so the time is sent along with the bytes.
void WriteOps::SetTimes(fuse_req_t request, uint64_t ino, int64_t mtime_ns) {
  const mount::WriteBack::Use use(&parts_.write_back, ino);
  std::shared_ptr<OverlayFile> overlay;
  if (const int error = parts_.overlays.MakeOverlay(ino, false, &overlay); error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  const bool waits = !overlay->NeedsPut(false);
  overlay->SetMtime(mtime_ns);
  parts_.write_back.Changed(ino, overlay);
  if (!waits) return lookup_.ReplyAttributes(request, ino);
  parts_.requests.Later(
      request,
      [this, ino](fuse_req_t later, int error) {
        if (error == 0) return lookup_.ReplyAttributes(later, ino);
        fuse_reply_err(later, error);
      },
      [&](Then then) {
        parts_.write_back.When(ino, mount::PutWaiters::For::kSent, parts_.options.patience, std::move(then));
      });
}

}  // namespace keibi::fuse
