// SPDX-License-Identifier: MPL-2.0
#include "fuse/read_ops.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "fuse/library.h"
#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using core::Code;
using mount::Found;
using mount::InodeTable;
using mount::Type;
using remote::kCacheBlockBytes;

// How often a read follows a version that has just changed before it fails.
constexpr int kMostAttempts = 4;

uint32_t BlockOf(uint64_t offset) { return static_cast<uint32_t>(offset / remote::kCacheBlockBytes); }
uint32_t BlockAfter(uint64_t offset) {
  return static_cast<uint32_t>((offset + remote::kCacheBlockBytes - 1) / remote::kCacheBlockBytes);
}

int ErrnoOf(const core::Status& status) {
  if (status.code == Code::kLimitExceeded) return EFBIG;
  return status.code == Code::kDiskFull ? ENOSPC : EIO;
}

// Size of the version this handle last read.
uint64_t SizeOf(const Handle& handle) {
  if (handle.overlay != nullptr) return handle.overlay->version().size;
  return handle.content == nullptr ? 0 : handle.content->file->size();
}

// Whether the old version's last bytes are still in place. If not, the longer file is another file.
bool Continues(Handle* handle, uint64_t offset, const uint8_t* bytes, size_t length) {
  if (handle->before == nullptr) return true;
  const remote::CacheFile& before = *handle->before->file;
  const uint64_t end = std::min(offset + length, before.size());
  std::vector<uint8_t> was(offset < end ? end - offset : 0);
  core::Status status;
  const bool known = !was.empty() && before.Read(offset, was.data(), was.size(), &status) && status.ok();
  if (known && std::memcmp(was.data(), bytes, was.size()) != 0) {
    handle->content = std::move(handle->before);
    return false;
  }
  handle->before = nullptr;
  return true;
}

uint8_t* BufferOfThread() {
  thread_local const std::unique_ptr<uint8_t[]> buffer(new uint8_t[kMostReadBytes]);
  return buffer.get();
}

}  // namespace

bool ReadOps::IsFresh(uint64_t ino, const Found& found, const fuse_file_info& info) {
  if (found.attributes.type != manifest::EntryType::kFile || found.gone || parts_.inodes.IsAway()) return true;
  const std::shared_ptr<mount::OverlayFile> overlay = parts_.write_back.Find(ino);
  // The other peer checks the version of a pending put.
  if (overlay != nullptr && overlay->NeedsPut(false)) return true;
  return (info.flags & O_ACCMODE) == O_RDONLY && parts_.vouched.Take(ino);
}

void ReadOps::Open(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered) {
  Found found;
  InodeTable::Known known = parts_.inodes.Look(ino, answered, &found);
  if (known == InodeTable::Known::kYes && !answered && !IsFresh(ino, found, info)) known = InodeTable::Known::kAsk;
  if (known == InodeTable::Known::kAsk) {
    return parts_.requests.Later(
        request,
        [this, ino, info](fuse_req_t later, int error) {
          if (error == 0) return Open(later, ino, info, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { parts_.requests.AskLook(ino, std::move(then)); });
  }
  // On ESTALE the kernel looks the name up once more.
  if (known == InodeTable::Known::kAbsent || (answered && found.gone)) {
    fuse_reply_err(request, ESTALE);
    return;
  }
  // Before the answer: the program asks for the size next.
  if (answered) parts_.notifier.NotifyAttributes(ino);
  auto handle = std::make_unique<Handle>();
  handle->writes = (info.flags & O_ACCMODE) != O_RDONLY;
  fuse_file_info opened = info;
  opened.fh = reinterpret_cast<uint64_t>(handle.get());
  opened.keep_cache = 1;  // content that is not read now is checked when it is read
  int error = 0;
  const mount::WriteBack::Use use(&parts_.write_back, ino);
  std::shared_ptr<mount::OverlayFile> overlay = parts_.overlays.OverlayOf(ino);
  if ((info.flags & O_TRUNC) != 0 && found.attributes.type == manifest::EntryType::kFile) {
    error = parts_.overlays.MakeOverlay(ino, true, &overlay);
    if (error == 0) error = overlay->Truncate(0, parts_.overlays.Now());
    if (error == 0) parts_.write_back.Changed(ino, overlay);
  }
  if (error == 0 && overlay != nullptr) {
    opened.keep_cache = parts_.contents.SameAsBefore(ino, overlay->token()) ? 1 : 0;
  } else if (error == 0 && (info.flags & O_ACCMODE) != O_WRONLY) {
    Reading opening{request, ino, 0, 0, handle.get()};
    ContentOf(opening, &error);
  }
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  parts_.write_back.Opened(ino);
  if (ReplyOpen(request, ino, &opened, handle.get()) == 0) {
    handle.release();
  } else {
    parts_.write_back.Closed(ino);
  }
  const bool small = found.attributes.size > 0 && found.attributes.size <= mount::kMostSmallBytes;
  if (small && overlay == nullptr && (info.flags & O_ACCMODE) == O_RDONLY) parts_.prefetcher.WalkOn(ino, false);
}

// The handle must not be released yet: the kernel may do that before this returns.
int ReadOps::ReplyOpen(fuse_req_t request, uint64_t ino, fuse_file_info* opened, Handle* handle) {
  const std::shared_ptr<Content> content = handle->content;
  Passthrough::How how = Passthrough::How::kCached;
  if (content != nullptr && !parts_.options.writable) {
    handle->counted = true;
    how = parts_.passthrough.Opened(ino, content->key, content->file->data_fd(), [this, &content] {
      return content->file->size() >= kLeastPassedBytes && parts_.contents.Hold(*content);
    });
  }
  // An open that bypasses the kernel's pages does not decide whether they are valid.
  if (content != nullptr && how == Passthrough::How::kCached)
    opened->keep_cache = parts_.contents.SameAsBefore(ino, content->key) ? 1 : 0;
  if (content != nullptr) parts_.read_ahead.Opening(content->file->size());
  const int error = parts_.passthrough.Reply(request, ino, opened, how);
  if (error != 0 && content != nullptr && !parts_.options.writable) parts_.passthrough.Closed(ino);
  return error;
}

void ReadOps::Release(fuse_req_t request, uint64_t ino, Handle* handle, const fuse_file_info& info) {
  if (ReleasesFlock(info)) parts_.locking.Drop(ino, {info.lock_owner, true}, [](int) {});
  if (handle->counted) parts_.passthrough.Closed(ino);
  delete handle;
  parts_.write_back.Closed(ino);
  fuse_reply_err(request, 0);
}

void ReadOps::Renew(uint64_t ino, Handle* handle) {
  const uint64_t taken = parts_.locking.Taken(ino);
  if (taken <= handle->taken) return;
  handle->taken = taken;
  handle->read = false;
  handle->before = nullptr;
}

std::shared_ptr<Content> ReadOps::ContentOf(const Reading& reading, int* error) {
  Found found;
  if (parts_.inodes.Look(reading.ino, true, &found) != InodeTable::Known::kYes) {
    *error = ESTALE;
    return nullptr;
  }
  Handle& handle = *reading.handle;
  const std::scoped_lock lock(handle.mutex);
  Renew(reading.ino, &handle);
  if (handle.overlay == nullptr && handle.content != nullptr && handle.content->Is(found.attributes))
    return handle.content;
  // A longer file may still begin with the version that this handle has read; the other peer checks that. A handle
  // that also writes needs the newest version: its program writes according to the bytes it has read.
  const bool grown = handle.read && !handle.writes && handle.overlay == nullptr && handle.content != nullptr &&
                     found.attributes.size > SizeOf(handle);
  if (grown && reading.offset + reading.size <= SizeOf(handle)) return handle.content;
  // Never mix two versions in one handle. A read at the end of the old version may continue with the new one.
  if (handle.read && !grown && reading.offset < SizeOf(handle)) {
    *error = ESTALE;
    return nullptr;
  }
  std::string path;
  InodeTable::Doubt doubt;
  std::shared_ptr<Content> opened;
  if (!parts_.inodes.Ask(reading.ino, &path, &doubt)) {
    *error = ESTALE;
    return nullptr;
  }
  core::Status status = parts_.contents.Open(path, found.attributes, &opened);
  if (status.code == Code::kDiskFull && parts_.contents.MakeRoom()) {
    status = parts_.contents.Open(path, found.attributes, &opened);
  }
  if (!status.ok()) {
    *error = ErrnoOf(status);
    return nullptr;
  }
  if (grown && handle.before == nullptr) handle.before = handle.content;
  handle.content = opened;
  handle.overlay = nullptr;
  handle.ahead = {};
  return opened;
}

void ReadOps::Read(fuse_req_t request, uint64_t ino, size_t size, off_t offset, Handle* handle) {
  ReadOnce({request, ino, static_cast<uint64_t>(offset), std::min(size, kMostReadBytes), handle});
}

void ReadOps::ReadOnce(Reading reading) {
  if (const std::shared_ptr<mount::OverlayFile> overlay = parts_.overlays.OverlayOf(reading.ino); overlay != nullptr) {
    return ReadOverlay(reading, overlay);
  }
  int error = 0;
  const std::shared_ptr<Content> content = ContentOf(reading, &error);
  if (content == nullptr) {
    fuse_reply_err(reading.request, error);
    return;
  }
  const remote::CacheFile& file = *content->file;
  if (reading.offset >= file.size()) {
    fuse_reply_buf(reading.request, nullptr, 0);
    return;
  }
  const size_t length = std::min<uint64_t>(reading.size, file.size() - reading.offset);
  core::Status status;
  uint8_t* const buffer = BufferOfThread();
  const uint32_t first = BlockOf(reading.offset), end = BlockAfter(reading.offset + length);
  if (!file.Read(reading.offset, buffer, length, &status)) return ReadMissing(reading, content, first, end);
  parts_.contents.Used(*content, first, end);
  mount::ReadAhead::Plan plan;
  {
    const std::scoped_lock lock(reading.handle->mutex);
    if (status.ok() && !Continues(reading.handle, reading.offset, buffer, length)) {
      fuse_reply_err(reading.request, ESTALE);
      return;
    }
    reading.handle->read = true;
    plan = reading.handle->ahead.Next(first, end, file.blocks(), parts_.most_ahead);
  }
  if (!status.ok()) {
    fuse_reply_err(reading.request, EIO);
    return;
  }
  // The request, and perhaps the handle, is freed after this.
  fuse_reply_buf(reading.request, reinterpret_cast<const char*>(buffer), length);
  if (plan.left) parts_.prefetcher.LeaveAhead(*content);
  const uint32_t from = file.FirstMissing(plan.from, plan.count);
  if (from < plan.from + plan.count)
    parts_.prefetcher.AskAhead(reading.ino, content, {from, plan.from + plan.count - from});
}

void ReadOps::ReadMissing(const Reading& reading, const std::shared_ptr<Content>& content, uint32_t first,
                          uint32_t end) {
  mount::ReadAhead::Plan plan;
  bool asked = false;
  {
    const std::scoped_lock lock(reading.handle->mutex);
    asked = reading.handle->ahead.Asked(first, end);
    plan = reading.handle->ahead.Next(first, end, content->file->blocks(), parts_.most_ahead);
  }
  if (plan.left) parts_.prefetcher.LeaveAhead(*content);
  const uint32_t ahead = plan.count > 0 ? plan.from + plan.count - end : 0;
  parts_.contents.Used(*content, first, uint64_t{end} + ahead);
  // The kernel releases a handle only after its last read is answered, and this one is answered when the ticket is
  // taken.
  const uint64_t ticket = parts_.pending_requests.Add(reading.request);
  if (asked) {
    parts_.block_waiter.Await(content, first, end, [this, reading, content, first, end, ticket](bool here) {
      Reading again = reading;
      if (!parts_.pending_requests.Take(ticket, &again.request)) return;
      if (here) {
        parts_.contents.Grown(*content);
        return ReadOnce(again);
      }
      {
        const std::scoped_lock lock(again.handle->mutex);
        again.handle->ahead.Missed(first);
      }
      ReadMissing(again, content, first, end);
    });
    if (plan.count > 0) parts_.prefetcher.AskAhead(reading.ino, content, plan);
    return;
  }
  const uint32_t from = content->file->FirstMissing(first, end - first);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, reading, content, ticket](int error, mount::Reader body) {
    if (error == 0) parts_.most_ahead = std::max<uint32_t>(mount::message::WantAnswer::Parse(body).ahead_blocks, 1);
    if (error == 0) parts_.contents.Grown(*content);
    Reading again = reading;
    if (!parts_.pending_requests.Take(ticket, &again.request)) return;
    const bool more = error == 0 || (error == ENOSPC && parts_.contents.MakeRoom());
    if (more && ++again.attempts <= kMostAttempts) return ReadOnce(again);
    if (error != ESTALE || ++again.attempts > kMostAttempts) {
      fuse_reply_err(again.request, error == 0 ? EIO : error);
      return;
    }
    // The file has changed there: a handle that has seen no byte of this version gets the new one.
    parts_.notifier.Notify(parts_.inodes.notices().Doubted(again.ino));
    parts_.requests.Later(
        again.request,
        [this, again](fuse_req_t later, int failure) mutable {
          again.request = later;
          if (failure == 0) return ReadOnce(again);
          fuse_reply_err(later, failure);
        },
        [&](Then then) { parts_.requests.AskLook(again.ino, std::move(then)); });
  };
  parts_.link.Ask(Type::kWant, parts_.prefetcher.WantOf(reading.ino, *content, from, end - from, ahead),
                  std::move(answer));
}

// Written bytes come from the overlay, the rest from the version that is at the other peer.
void ReadOps::ReadOverlay(Reading reading, const std::shared_ptr<mount::OverlayFile>& overlay) {
  uint8_t* const buffer = BufferOfThread();
  size_t length = 0;
  mount::Missing missing;
  int error = 0;
  const bool there = overlay->Read(reading.offset, buffer, reading.size, &length, &missing, &error);
  {
    const std::scoped_lock lock(reading.handle->mutex);
    Handle& handle = *reading.handle;
    Renew(reading.ino, &handle);
    const bool follows = handle.overlay == overlay || (handle.overlay == nullptr && handle.content != nullptr &&
                                                       handle.content->file->size() == overlay->origin().size &&
                                                       handle.content->file->mtime_ns() == overlay->origin().mtime_ns);
    if (handle.read && !follows && reading.offset < SizeOf(handle)) error = ESTALE;
    if (error == 0) handle.overlay = overlay;
    handle.read = handle.read || (there && error == 0);
  }
  if (error != 0) {
    fuse_reply_err(reading.request, error);
  } else if (there) {
    fuse_reply_buf(reading.request, reinterpret_cast<const char*>(buffer), length);
  } else {
    FetchForOverlay(reading, overlay, missing);
  }
}

// No put runs while blocks are fetched: they must belong to the requested version.
void ReadOps::FetchForOverlay(const Reading& reading, const std::shared_ptr<mount::OverlayFile>& overlay,
                              const mount::Missing& needed) {
  uint32_t ahead = 0;
  {
    const std::scoped_lock lock(reading.handle->mutex);
    const auto plan =
        reading.handle->ahead.Next(needed.first, needed.end, BlockAfter(needed.of.size), parts_.most_ahead);
    if (plan.count > 0) ahead = plan.from + plan.count - needed.end;
  }
  const uint64_t ticket = parts_.pending_requests.Add(reading.request);
  const mount::WriteBack::Held held{{reading.ino}, {}, {}};
  // The handle is only valid after the ticket was taken.
  const auto fail = [this, ticket, held](int error) {
    parts_.write_back.Release(held);
    if (fuse_req_t request; parts_.pending_requests.Take(ticket, &request)) fuse_reply_err(request, error);
  };
  const auto fetch = [=, this](int) {
    std::vector<uint8_t> unused(reading.size);
    size_t length = 0;
    mount::Missing missing;
    int error = 0;
    // The version may have changed by now, and perhaps nothing is missing.
    if (overlay->Read(reading.offset, unused.data(), reading.size, &length, &missing, &error)) {
      parts_.write_back.Release(held);
      Reading again = reading;
      if (parts_.pending_requests.Take(ticket, &again.request)) ReadOnce(again);
      return;
    }
    std::string path;
    InodeTable::Doubt doubt;
    std::shared_ptr<Content> content;
    if (!parts_.inodes.Ask(reading.ino, &path, &doubt)) return fail(ESTALE);
    mount::Attributes attributes;
    attributes.size = missing.of.size;
    attributes.mtime_ns = missing.of.mtime_ns;
    if (const core::Status status = parts_.contents.Open(path, attributes, &content); !status.ok()) {
      return fail(ErrnoOf(status));
    }
    content->kept = true;
    if (missing.content == nullptr) {
      overlay->AddContent(missing.of, std::shared_ptr<remote::CacheFile>(content, content->file.get()));
    }
    mount::DaemonLink::Answer answer;
    answer.on_done = [=, this](int failure, mount::Reader body) {
      if (failure == 0) parts_.most_ahead = std::max<uint32_t>(mount::message::WantAnswer::Parse(body).ahead_blocks, 1);
      parts_.write_back.Release(held);
      Reading again = reading;
      if (!parts_.pending_requests.Take(ticket, &again.request)) return;
      if (++again.attempts <= kMostAttempts && failure == 0) return ReadOnce(again);
      if (again.attempts > kMostAttempts || failure != ESTALE) {
        fuse_reply_err(again.request, failure == 0 ? EIO : failure);
        return;
      }
      // Another peer has changed it: a put notices that, and so does a look.
      parts_.requests.Later(
          again.request,
          [this, again](fuse_req_t later, int) mutable {
            again.request = later;
            ReadOnce(again);
          },
          [&](Then then) {
            parts_.write_back.When(
                again.ino, mount::PutWaiters::For::kSent, parts_.options.patience,
                [this, ino = again.ino, then = std::move(then)](int) { parts_.requests.AskLook(ino, then); });
          });
    };
    parts_.link.Ask(Type::kWant,
                    parts_.prefetcher.WantOf(reading.ino, *content, missing.first, missing.end - missing.first, ahead),
                    std::move(answer));
  };
  parts_.write_back.Hold(held, fetch);
}

}  // namespace keibi::fuse
