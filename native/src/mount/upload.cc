// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cerrno>
#include <utility>

#include "mount/conflict_name.h"
#include "mount/write_back.h"

// How an overlay is sent to the other peer, and how its result is handled.
namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;
using stream::Entry;

constexpr uint64_t kLeastPutBytes = uint64_t{1} << 20;
constexpr std::chrono::milliseconds kFirstBackoff{rules::kFirstBackoffMs};
constexpr std::chrono::milliseconds kMostBackoff{rules::kMostBackoffMs};

// Errors that may be transient.
bool MayPass(int error) { return error == EIO || error == ETIMEDOUT || error == ENOTCONN || error == EBUSY; }

// Whether skipping this put would lose data.
bool IsWorthKeeping(const Put& put) {
  return !put.ranges.empty() || put.now.size != put.base.size || put.keep != put.base.size;
}

bool ParseOne(const std::vector<uint8_t>& page, Entry* entry) {
  size_t at = 0;
  return stream::ParseEntry(page.data(), page.size(), &at, entry).ok();
}

// The answer to a request that brings one page.
DaemonLink::Answer PageAnswer(std::function<void(int, const std::vector<uint8_t>&)> then) {
  const auto page = std::make_shared<std::vector<uint8_t>>();
  DaemonLink::Answer answer;
  answer.on_page = [page](const uint8_t* bytes, size_t length) { page->assign(bytes, bytes + length); };
  answer.on_done = [page, then = std::move(then)](int error, Reader) {
    Entry entry;
    then(error == 0 && !ParseOne(*page, &entry) ? EIO : error, *page);
  };
  return answer;
}

std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

void WriteBack::Send(Work work) {
  const Put& put = work.put;
  message::Put body{.token = work.overlay->token(),
                    .size = put.now.size,
                    .mtime_ns = put.now.mtime_ns,
                    .base_size = put.base.size,
                    .base_mtime_ns = put.base.mtime_ns,
                    .keep = put.keep,
                    .sync = put.sync,
                    .ranges = {},
                    .path = work.path};
  for (const auto& [offset, length] : put.ranges) body.ranges.push_back({offset, length});
  const Writer written = body.Body();
  const uint64_t ino = work.ino;
  const std::shared_ptr<OverlayFile> overlay = work.overlay;
  const uint32_t request = link_->Ask(
      Type::kPut, written, PageAnswer([this, work = std::move(work)](int error, const std::vector<uint8_t>& page) {
        Finish(work, error, page);
      }),
      rules::kPutPatiences);
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(ino);
    // The put may have ended already, and another may be pending.
    if (file == nullptr || file->overlay != overlay || !file->putting || file->request != 0) return;
    file->request = request;
    if (!file->stop) return;
  }
  link_->Notify(Type::kStop, message::Stop{request}.Body());
}

void WriteBack::Finish(const Work& work, int error, const std::vector<uint8_t>& page) {
  Entry entry;
  if (error == 0 && ParseOne(page, &entry)) {
    inodes_->Changed(work.ino, entry, InodeTable::What::kContent);
    work.overlay->Done(work.put, {entry.size, entry.mtime_ns});
    work.overlay->Shrink(std::max(options_.most_kept_bytes, options_.most_dirty_bytes));
  } else {
    work.overlay->Failed(work.put);
  }
  Calls calls;
  bool changed = false, absent = false;
  {
    const std::scoped_lock lock(mutex_);
    running_--;
    File* const file = FileOf(work.ino);
    if (file == nullptr || file->overlay != work.overlay) return;
    file->putting = false;
    const bool stopped = std::exchange(file->stop, false);
    if (file->gone) {
      work.overlay->GiveUp();
    } else if (error == 0) {
      file->error = 0;
      file->backoff = {};
      file->since = Clock::now();
      file->most_bytes = file->most_bytes > UINT64_MAX / 2 ? UINT64_MAX : file->most_bytes * 2;
    } else if (!MayPass(error) && !stopped && !IsWorthKeeping(work.put) && work.overlay->unsent_bytes() == 0) {
      // Only a time or a sync was pending: the file there keeps its own time.
      if (error != ESTALE && error != ENOENT) FinishWaiters(file, error, &calls);
      work.overlay->GiveUp();
      calls.push_back([this, ino = work.ino] { outside_.look(ino); });
    } else if (error == ESTALE || error == ENOENT) {
      changed = error == ESTALE;
      absent = !changed;
      file->moving = true;
    } else if (!stopped) {
      file->backoff = std::clamp(file->backoff * 2, kFirstBackoff, kMostBackoff);
      file->retry = Clock::now() + file->backoff;
      if (error == ETIMEDOUT) {
        uint64_t sent = 0;
        for (const auto& [offset, length] : work.put.ranges) sent += length;
        file->most_bytes = std::max(sent / 2, kLeastPutBytes);
      }
      if (!away_) file->error = error;
      if (!MayPass(error)) FinishWaiters(file, error, &calls);
    }
    Look(work.ino, &calls);
    LetWrite(&calls);
    Pump(&calls);
  }
  Call(&calls);
  if (changed) KeepBoth(work, 1);
  if (absent) MakeAgain(work, 0);
}

size_t WriteBack::LeaveUnsent() {
  std::vector<Work> left;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [ino, file] : files_) {
      Work work{ino, file.overlay, {}, {}};
      InodeTable::Doubt doubt;
      if (file.overlay == nullptr || file.gone || !(file.Busy() || file.overlay->NeedsPut(false))) continue;
      if (inodes_->Ask(ino, &work.path, &doubt)) left.push_back(std::move(work));
    }
  }
  for (const Work& work : left) {
    message::Unsent body{work.overlay->token(), work.overlay->version().mtime_ns, false, work.path};
    // If the disk is full, the file stays as it is: it has the written bytes.
    work.overlay->Leave(&body.complete);
    link_->Notify(Type::kUnsent, body.Body());
  }
  return left.size();
}

// Keeps the other's version in place and puts ours beside it.
void WriteBack::KeepBoth(Work work, int number) {
  std::string path;
  InodeTable::Doubt doubt;
  if (number > rules::kMostConflicts || !inodes_->Ask(work.ino, &path, &doubt)) return Moved(work, EEXIST);
  const std::string_view name = NameOf(path);
  const std::string aside = ConflictName(name, DateOfToday(), options_.label, number);
  const std::string to = path.substr(0, path.size() - name.size()) + aside;
  link_->Ask(Type::kCopy, message::Copy{path, to}.Body(),
             PageAnswer([this, work = std::move(work), number, aside](int error, const std::vector<uint8_t>& page) {
               if (error == EEXIST) return KeepBoth(work, number + 1);
               if (error == ENOENT) return MakeAgain(work, 0);
               if (error != 0) return Moved(work, error);
               MoveTo(work, page, aside);
             }),
             rules::kPutPatiences);
}

// The file was removed there: create it again if we have unsent bytes.
//
// `made_until`: the directories of the path up to here exist.
void WriteBack::MakeAgain(Work work, size_t made_until) {
  std::string path;
  InodeTable::Doubt doubt;
  Found found;
  if (!inodes_->Ask(work.ino, &path, &doubt) || inodes_->Look(work.ino, true, &found) != InodeTable::Known::kYes) {
    return Moved(work, ENOENT);
  }
  const size_t slash = made_until == 0 ? std::string::npos : path.find('/', made_until);
  const bool directory = slash != std::string::npos;
  const std::string_view made = directory ? std::string_view(path).substr(0, slash) : std::string_view(path);
  const message::Make make{.kind = directory ? message::Make::Kind::kDirectory : message::Make::Kind::kFile,
                           .mode = directory ? uint16_t{rules::kDirectoryMode} : found.attributes.mode,
                           .path = made,
                           .target = {}};
  link_->Ask(Type::kMake, make.Body(),
             PageAnswer([=, this, work = std::move(work)](int error, const std::vector<uint8_t>& page) {
               if (directory && (error == 0 || error == EEXIST)) return MakeAgain(work, slash + 1);
               if (!directory && error == 0) return MoveTo(work, page, {});
               // Retry once, and create the directories from the top.
               if (error == ENOENT && made_until == 0 && path.find('/') != std::string::npos) return MakeAgain(work, 1);
               // EEXIST: another peer has created one meanwhile; the next put finds it.
               Moved(work, error);
             }));
}

void WriteBack::MoveTo(const Work& work, const std::vector<uint8_t>& page, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  // The copy may be large, so it runs as a job.
  jobs_.emplace_back([this, work, page, name] {
    Entry entry;
    ParseOne(page, &entry);
    const int error = work.overlay->MoveTo({entry.size, entry.mtime_ns}, !name.empty());
    if (error == 0 && !name.empty()) outside_.told(inodes_->MoveAside(work.ino, name));
    Moved(work, error);
  });
  changed_.notify_all();
}

void WriteBack::Moved(const Work& work, int error) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(work.ino);
    if (file == nullptr || file->overlay != work.overlay) return;
    file->moving = false;
    file->soon = true;
    if (error != 0) {
      file->backoff = std::clamp(file->backoff * 2, kFirstBackoff, kMostBackoff);
      file->retry = Clock::now() + file->backoff;
      file->error = error == EEXIST ? EIO : error;
      if (!MayPass(error)) FinishWaiters(file, file->error, &calls);
    }
    ready_.insert(work.ino);
    Look(work.ino, &calls);
    Pump(&calls);
  }
  Call(&calls);
}

void WriteBack::WhenClosed(uint64_t ino, Then then) {
  Calls calls;
  {
    const std::scoped_lock lock(mutex_);
    File* const file = FileOf(ino);
    if (file == nullptr || file->overlay == nullptr || away_) {
      if (file != nullptr) file->soon = true;
      ready_.insert(ino);
      calls.push_back([then = std::move(then)] { then(0); });
    } else {
      const uint64_t changes = file->overlay->changes();
      AddWaiter(ino, {For::kClosed, Clock::now() + options_.patience, std::move(then), changes}, &calls);
      ready_.insert(ino);
      Pump(&calls);
    }
  }
  Call(&calls);
}

// While the other peer is away, close(2) does not wait for it.
void WriteBack::LetClose(File* file, Calls* calls) {
  for (Waiter& one : file->waiters) {
    if (one.what == For::kClosed) calls->push_back([then = std::move(one.then)] { then(0); });
  }
  std::erase_if(file->waiters, [](const Waiter& one) { return one.what == For::kClosed; });
}

}  // namespace keibi::mount
