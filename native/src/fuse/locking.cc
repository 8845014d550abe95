// SPDX-License-Identifier: MPL-2.0
#include "fuse/locking.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/bytes.h"
#include "manifest/entry.h"

namespace keibi::fuse {
namespace {

using mount::InodeTable;
using mount::Type;
using platform::LockKind;
using platform::LockSpan;

// Pauses between two tries of a program that waits for a lock.
constexpr std::chrono::milliseconds kFirstLockPause{5};
constexpr std::chrono::milliseconds kMostLockPause{250};

}  // namespace

Locking::Locking(Parts parts) : parts_(std::move(parts)), thread_([this] { Run(); }) {}

Locking::~Locking() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Locking::Run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (later_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, later_.begin()->first);
    }
    while (!ending_ && !later_.empty() && later_.begin()->first <= Clock::now()) {
      const Attempt attempt = later_.begin()->second;
      later_.erase(later_.begin());
      lock.unlock();
      if (parts_.waiting->Holds(attempt.ticket)) Ask(attempt);
      lock.lock();
    }
  }
}

bool Locking::Has(uint64_t ino, const Owner& owner) {
  const std::scoped_lock lock(mutex_);
  const auto file = files_.find(ino);
  return file != files_.end() && file->second.owners.contains(owner);
}

bool Locking::IsLost(uint64_t ino) {
  if (!any_lost_) return false;
  const std::scoped_lock lock(mutex_);
  const auto file = files_.find(ino);
  return file != files_.end() && std::any_of(file->second.owners.begin(), file->second.owners.end(),
                                             [](const auto& one) { return one.second.lost; });
}

uint64_t Locking::Taken(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  const auto file = files_.find(ino);
  return file == files_.end() ? 0 : file->second.taken;
}

void Locking::Lost() {
  const std::scoped_lock lock(mutex_);
  for (auto& [ino, file] : files_) {
    for (auto& [owner, held] : file.owners) {
      held.lost = true;
      held.ranges = {};
      any_lost_ = true;
    }
  }
}

void Locking::Answer(uint64_t ticket, int error) {
  if (fuse_req_t request; parts_.waiting->Take(ticket, &request)) fuse_reply_err(request, error);
}

void Locking::WhenSent(uint64_t ino, Then then) {
  std::vector<uint64_t> files = parts_.inodes->walk().Beside(ino);
  std::erase_if(files, [this](uint64_t one) { return parts_.write_back->Find(one) == nullptr; });
  files.push_back(ino);
  const auto left = std::make_shared<std::atomic<size_t>>(files.size());
  const auto failed = std::make_shared<std::atomic<int>>(0);
  for (const uint64_t one : files) {
    parts_.write_back->WhenClosed(one, [left, failed, then](int error) {
      if (error != 0) *failed = error;
      if (--*left == 0) then(*failed);
    });
  }
}

mount::Writer Locking::BodyOf(const Wanted& wanted, const std::string& path) const {
  const auto kind = static_cast<mount::message::Lock::Kind>(wanted.kind);
  return mount::message::Lock{wanted.owner.id, wanted.owner.whole, kind, wanted.span.from, wanted.span.end, path}
      .Body();
}

void Locking::Set(fuse_req_t request, const Wanted& wanted) {
  const bool unlocks = wanted.kind == LockKind::kNone;
  int error = 0;
  bool idle = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto file = files_.find(wanted.ino);
    const bool known = file != files_.end() && file->second.owners.contains(wanted.owner);
    const bool lost = known && file->second.owners[wanted.owner].lost;
    if (lost && !unlocks) error = EIO;
    // An owner that releases all its locks may begin again.
    if (lost && unlocks && wanted.span == LockSpan{}) file->second.owners.erase(wanted.owner);
    idle = unlocks && (!known || lost || !file->second.owners[wanted.owner].ranges.Touches(wanted.span));
  }
  if (error != 0 || idle) {
    fuse_reply_err(request, error);
    return;
  }
  const uint64_t ticket = parts_.waiting->Add(request);
  WhenSent(wanted.ino, [this, wanted, ticket, unlocks](int failure) {
    // A lock is released even if something could not be sent: the next fsync or close reports that.
    if (unlocks) return GiveUp(wanted, [this, ticket](int) { Answer(ticket, 0); });
    if (failure != 0) return Answer(ticket, failure);
    Ask({wanted, ticket, kFirstLockPause});
  });
}

void Locking::Ask(const Attempt& attempt) {
  std::string path;
  InodeTable::Doubt doubt;
  // The file was unlinked, so no program there can lock it.
  if (!parts_.inodes->Ask(attempt.wanted.ino, &path, &doubt)) return Answer(attempt.ticket, ENOLCK);
  const auto page = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [page](const uint8_t* bytes, size_t length) { page->assign(bytes, bytes + length); };
  answer.on_done = [this, attempt, doubt, page](int error, mount::Reader body) {
    if (error != 0) return Refused(attempt, error);
    Granted(attempt, doubt, mount::message::LockAnswer::Parse(body).holder, *page);
  };
  parts_.link->Ask(Type::kLock, BodyOf(attempt.wanted, path), std::move(answer));
}

void Locking::Refused(Attempt attempt, int error) {
  if (error != EAGAIN || !attempt.wanted.waits) return Answer(attempt.ticket, error == EBUSY ? ENOLCK : error);
  {
    const std::scoped_lock lock(mutex_);
    const auto when = Clock::now() + attempt.pause;
    attempt.pause = std::min(2 * attempt.pause, kMostLockPause);
    later_.emplace(when, attempt);
  }
  changed_.notify_all();
}

void Locking::Granted(const Attempt& attempt, InodeTable::Doubt doubt, uint32_t holder,
                      const std::vector<uint8_t>& page) {
  const Wanted& wanted = attempt.wanted;
  const LockSpan span = wanted.owner.whole ? LockSpan{} : wanted.span;
  bool lost = false, fresh = false;
  {
    const std::scoped_lock lock(mutex_);
    File& file = files_[wanted.ino];
    Held& held = file.owners[wanted.owner];
    lost = held.lost;
    if (!lost) {
      fresh = !held.ranges.Touches(span);
      held.holder = holder;
      held.ranges.Set(span, wanted.kind);
      file.taken = ++takes_;
    }
  }
  if (lost) {
    ReportRelease(holder, {}, [](int) {});
    return Answer(attempt.ticket, EIO);
  }
  manifest::Entry entry;
  size_t at = 0;
  const bool parsed = manifest::ParseEntry(page.data(), page.size(), &at, &entry).ok();
  InodeTable::Invalidations news;
  if (parsed) news = parts_.inodes->PutEntry(wanted.ino, doubt, entry);
  for (mount::Invalidation& one : parts_.inodes->notices().DoubtedBeside(wanted.ino)) news.push_back(std::move(one));
  mount::Found found;
  const bool known = parsed && parts_.inodes->Look(wanted.ino, true, &found) == InodeTable::Known::kYes &&
                     found.attributes.size == entry.size && found.attributes.mtime_ns == entry.mtime_ns;
  const auto reply = [this, ticket = attempt.ticket, wanted, fresh](int error) {
    // After everything that the kernel is to forget, including earlier notices.
    parts_.notifier->Notify({}, [this, ticket, wanted, fresh, error] {
      fuse_req_t request;
      if (parts_.waiting->Take(ticket, &request)) {
        fuse_reply_err(request, error);
        if (error == 0) return;
      }
      // The program no longer waits. A fresh lock is released; else the owner may hold too much until it closes the
      // file.
      if (fresh) GiveUp(wanted, [](int) {});
    });
  };
  parts_.notifier->Notify(std::move(news));
  // The answer to a later request may have come first: request the current state.
  known ? reply(0) : parts_.look(wanted.ino, reply);
}

void Locking::ReportRelease(uint32_t holder, const LockSpan& span, Then then) {
  mount::DaemonLink::Answer answer;
  answer.on_done = [then = std::move(then)](int error, mount::Reader) { then(error); };
  const mount::message::Unlock body{holder, span.from, span.end};
  parts_.link->Ask(Type::kUnlock, body.Body(), std::move(answer));
}

void Locking::GiveUp(const Wanted& wanted, Then then) {
  uint32_t holder = 0;
  const LockSpan span = wanted.owner.whole ? LockSpan{} : wanted.span;
  {
    const std::scoped_lock lock(mutex_);
    const auto file = files_.find(wanted.ino);
    const bool known = file != files_.end() && file->second.owners.contains(wanted.owner);
    if (known) {
      Held& held = file->second.owners[wanted.owner];
      if (!held.lost) holder = held.holder;
      held.ranges.Set(span, LockKind::kNone);
      if (held.ranges.empty() && (!held.lost || span == LockSpan{})) file->second.owners.erase(wanted.owner);
      if (file->second.owners.empty()) files_.erase(file);
    }
  }
  if (holder == 0) return then(0);
  ReportRelease(holder, span, std::move(then));
}

void Locking::Drop(uint64_t ino, const Owner& owner, Then then) {
  if (!Has(ino, owner)) return then(0);
  const Wanted all{ino, owner, {}, LockKind::kNone, false};
  WhenSent(ino, [this, all, then = std::move(then)](int) { GiveUp(all, then); });
}

void Locking::Test(fuse_req_t request, const Wanted& wanted) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes->Ask(wanted.ino, &path, &doubt)) {
    fuse_reply_err(request, ENOLCK);
    return;
  }
  const uint64_t ticket = parts_.waiting->Add(request);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, ticket](int error, mount::Reader body) {
    if (error != 0) return Answer(ticket, error);
    struct flock found {};
    using Found = mount::message::TestLockAnswer;
    const auto [kind, from, end] = Found::Parse(body);
    found.l_type = kind == Found::Kind::kNone ? F_UNLCK : kind == Found::Kind::kShared ? F_RDLCK : F_WRLCK;
    found.l_whence = SEEK_SET;
    found.l_start = static_cast<off_t>(from);
    found.l_len = end >= platform::kLockEnd - 1 ? 0 : static_cast<off_t>(end - from);
    if (fuse_req_t later; parts_.waiting->Take(ticket, &later)) fuse_reply_lock(later, &found);
  };
  parts_.link->Ask(Type::kTestLock, BodyOf(wanted, path), std::move(answer));
}

}  // namespace keibi::fuse
