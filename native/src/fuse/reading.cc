// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cerrno>
#include <memory>

#include "fuse/host.h"

// Open files, and what is read of them.
namespace keibi::fuse {
namespace {

using core::Code;
using mount::Found;
using mount::Tree;
using mount::Type;
using stream::kCacheBlockBytes;

// How often a version that has just changed is followed before the read fails.
constexpr int kMostAttempts = 4;

uint32_t BlockOf(uint64_t offset) { return static_cast<uint32_t>(offset / kCacheBlockBytes); }
uint32_t BlockAfter(uint64_t offset) {
  return static_cast<uint32_t>((offset + kCacheBlockBytes - 1) / kCacheBlockBytes);
}

int ErrnoOf(const core::Status& status) {
  if (status.code == Code::kLimitExceeded) return EFBIG;
  return status.code == Code::kDiskFull ? ENOSPC : EIO;
}

uint8_t* BufferOfThread() {
  thread_local const std::unique_ptr<uint8_t[]> buffer(new uint8_t[kMostReadBytes]);
  return buffer.get();
}

}  // namespace

void Host::Open(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered) {
  Found found;
  const Tree::Known known = tree_.Look(ino, answered, &found);
  if (known == Tree::Known::kAsk) {
    return Later(
        request,
        [this, ino, info](fuse_req_t later, int error) {
          if (error == 0) return Open(later, ino, info, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { AskLook(ino, std::move(then)); });
  }
  if (known == Tree::Known::kAbsent) {
    fuse_reply_err(request, ESTALE);
    return;
  }
  auto handle = std::make_unique<Handle>();
  Reading opening{request, ino, 0, 0, handle.get()};
  int error = 0;
  const std::shared_ptr<Content> content = ContentOf(opening, &error);
  if (content == nullptr) {
    fuse_reply_err(request, error);
    return;
  }
  fuse_file_info opened = info;
  opened.fh = reinterpret_cast<uint64_t>(handle.get());
  opened.keep_cache = contents_.SameAsBefore(ino, *content) ? 1 : 0;
  if (fuse_reply_open(request, &opened) == 0) handle.release();
}

std::shared_ptr<Content> Host::ContentOf(const Reading& reading, int* error) {
  Found found;
  if (tree_.Look(reading.ino, true, &found) != Tree::Known::kYes) {
    *error = ESTALE;
    return nullptr;
  }
  Handle& handle = *reading.handle;
  const std::scoped_lock lock(handle.mutex);
  if (handle.content != nullptr && handle.content->Is(found.attributes)) return handle.content;
  // Nobody gets a mix of two versions. What stands behind the end of the one that was read belongs to none.
  if (handle.content != nullptr && handle.read && reading.offset < handle.content->file->size()) {
    *error = ESTALE;
    return nullptr;
  }
  std::string path;
  Tree::Doubt doubt;
  std::shared_ptr<Content> opened;
  if (!tree_.Ask(reading.ino, &path, &doubt)) {
    *error = ESTALE;
    return nullptr;
  }
  if (const core::Status status = contents_.Open(path, found.attributes, &opened); !status.ok()) {
    *error = ErrnoOf(status);
    return nullptr;
  }
  handle.content = opened;
  handle.ahead = {};
  return opened;
}

void Host::Read(fuse_req_t request, uint64_t ino, size_t size, off_t offset, Handle* handle) {
  ReadOnce({request, ino, static_cast<uint64_t>(offset), std::min(size, kMostReadBytes), handle});
}

void Host::ReadOnce(Reading reading) {
  int error = 0;
  const std::shared_ptr<Content> content = ContentOf(reading, &error);
  if (content == nullptr) {
    fuse_reply_err(reading.request, error);
    return;
  }
  const stream::CacheFile& file = *content->file;
  if (reading.offset >= file.size()) {
    fuse_reply_buf(reading.request, nullptr, 0);
    return;
  }
  const size_t length = std::min<uint64_t>(reading.size, file.size() - reading.offset);
  core::Status status;
  uint8_t* const buffer = BufferOfThread();
  const uint32_t first = BlockOf(reading.offset), end = BlockAfter(reading.offset + length);
  if (!file.Read(reading.offset, buffer, length, &status)) return ReadMissing(reading, content, first, end);
  mount::ReadAhead::Plan plan;
  {
    const std::scoped_lock lock(reading.handle->mutex);
    reading.handle->read = true;
    plan = reading.handle->ahead.Next(first, end, file.blocks(), most_ahead_);
  }
  if (!status.ok()) {
    fuse_reply_err(reading.request, EIO);
    return;
  }
  // The request, and perhaps the handle, is gone after this.
  fuse_reply_buf(reading.request, reinterpret_cast<const char*>(buffer), length);
  const uint32_t from = file.FirstMissing(plan.from, plan.count);
  if (from < plan.from + plan.count) AskAhead(*content, {from, plan.from + plan.count - from});
}

void Host::ReadMissing(const Reading& reading, const std::shared_ptr<Content>& content, uint32_t first, uint32_t end) {
  uint32_t ahead = 0;
  {
    const std::scoped_lock lock(reading.handle->mutex);
    const auto plan = reading.handle->ahead.Next(first, end, content->file->blocks(), most_ahead_);
    if (plan.count > 0) ahead = plan.from + plan.count - end;
  }
  const uint32_t from = content->file->FirstMissing(first, end - first);
  const uint64_t ticket = waiting_.Add(reading.request);
  mount::Link::Answer answer;
  // The kernel releases a handle only when its last read is answered; until the ticket is taken this one is not.
  answer.on_done = [this, reading, content, ticket](int error, mount::Reader body) {
    if (error == 0) most_ahead_ = std::max<uint32_t>(body.Number<uint32_t>(), 1);
    Reading again = reading;
    if (!waiting_.Take(ticket, &again.request)) return;
    if (error == 0 && ++again.attempts <= kMostAttempts) return ReadOnce(again);
    if (error != ESTALE || ++again.attempts > kMostAttempts) {
      fuse_reply_err(again.request, error == 0 ? EIO : error);
      return;
    }
    // It is another version there: who has seen none of this one gets that.
    notifier_.Tell(tree_.Apply(Tree::Change::kChanged, content->path));
    Later(
        again.request,
        [this, again](fuse_req_t later, int failure) mutable {
          again.request = later;
          if (failure == 0) return ReadOnce(again);
          fuse_reply_err(later, failure);
        },
        [&](Then then) { AskLook(again.ino, std::move(then)); });
  };
  link_.Ask(Type::kWant, WantOf(*content, from, end - from, ahead), std::move(answer));
}

void Host::AskAhead(const Content& content, const mount::ReadAhead::Plan& plan) {
  mount::Link::Answer answer;
  answer.on_done = [this](int error, mount::Reader body) {
    if (error == 0) most_ahead_ = std::max<uint32_t>(body.Number<uint32_t>(), 1);
  };
  link_.Ask(Type::kWant, WantOf(content, plan.from, 0, plan.count), std::move(answer));
}

mount::Writer Host::WantOf(const Content& content, uint32_t first, uint32_t count, uint32_t ahead) const {
  mount::Writer want;
  want.Rest(content.key)
      .Number(content.file->size())
      .Number(static_cast<uint64_t>(content.file->mtime_ns()))
      .Number(first)
      .Number(count)
      .Number(ahead)
      .Rest(content.path);
  return want;
}

}  // namespace keibi::fuse
