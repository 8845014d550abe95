// SPDX-License-Identifier: MPL-2.0
#include "fuse/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/limits.h"

namespace keibi::fuse {
namespace {

using mount::Found;
using mount::InodeTable;
using mount::Type;
using stream::EntryType;

// Limit of one directory; a larger one fails with EOVERFLOW.
constexpr size_t kMostListingBytes = mount::rules::kMostListingBytes;
// Limit of a listing that is prefetched.
constexpr size_t kMostListingBytesAhead = size_t{4} << 20;
// Until the daemon has reported how much the path carries.
constexpr uint32_t kFirstMostAhead = mount::rules::kFirstAheadBlocks;
// For how long the kernel may cache that a name is absent. We do not track which absent names it has cached.
constexpr double kAbsentSeconds = 1;

// The other peer is away: use what is known, and request the rest again.
constexpr int kPeerAway = EAGAIN;

mode_t TypeBitsOf(EntryType type) {
  if (type == EntryType::kDirectory) return S_IFDIR;
  return type == EntryType::kSymlink ? S_IFLNK : S_IFREG;
}

}  // namespace

Server::Server(Options options, int link, int cache)
    : options_(std::move(options)),
      link_(link, options_.patience),
      contents_(cache, options_.cache_bytes,
                [this](const std::string& key) { link_.Notify(Type::kRelease, mount::message::Release{key}.Body()); }),
      block_waiter_(cache),
      write_back_({cache, options_.patience, options_.label, options_.cache_bytes}, &inodes_, &link_,
                  {[this](InodeTable::Invalidations announced) { notifier_.Notify(std::move(announced)); },
                   [this](uint64_t ino) { Verify(ino); },
                   [this](uint64_t ino, const std::string& path, const std::shared_ptr<mount::OverlayFile>& overlay) {
                     contents_.Adopt(ino, path, overlay);
                   }}),
      locking_({&inodes_, &link_, &write_back_, &notifier_, &pending_requests_,
                [this](uint64_t ino, Locking::Then then) { AskLook(ino, std::move(then)); }}),
      prefetch_(&inodes_),
      most_ahead_(kFirstMostAhead) {}

void Server::Later(fuse_req_t request, std::function<void(fuse_req_t, int)> work,
                   const std::function<void(Then)>& ask) {
  const uint64_t ticket = pending_requests_.Add(request);
  ask([this, ticket, work = std::move(work)](int error) {
    if (fuse_req_t taken; pending_requests_.Take(ticket, &taken)) work(taken, error);
  });
}

void Server::SetAway(bool away) {
  link_.SetAway(away);
  inodes_.SetAway(away);
  prefetch_.SetAway(away);
  write_back_.SetAway(away);
  if (!away) return;
  for (const Type type : {Type::kLook, Type::kList}) link_.FinishAsked(type, kPeerAway);
}

void Server::AskLook(uint64_t ino, Then then) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!inodes_.Ask(ino, &path, &doubt)) return then(ESTALE);
  const auto bytes = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [bytes](const uint8_t* page, size_t length) { bytes->assign(page, page + length); };
  answer.on_done = [this, ino, doubt, bytes, then = std::move(then)](int error, mount::Reader) {
    if (error == kPeerAway) {
      Found found;
      return inodes_.Look(ino, false, &found) == InodeTable::Known::kAsk ? AskLook(ino, then) : then(0);
    }
    if (error == ENOENT) {
      notifier_.Notify(inodes_.PutAbsent(ino, doubt));
      error = 0;
    } else if (error == 0) {
      stream::Entry entry;
      size_t at = 0;
      if (stream::ParseEntry(bytes->data(), bytes->size(), &at, &entry).ok()) {
        notifier_.Notify(inodes_.PutEntry(ino, doubt, entry));
      } else {
        error = EIO;
      }
    }
    then(error);
  };
  link_.Ask(Type::kLook, mount::message::Look{path}.Body(), std::move(answer));
}

void Server::AskList(uint64_t ino, Then then, bool ahead) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!inodes_.Ask(ino, &path, &doubt)) return then(ESTALE);
  const std::pair key{ino, doubt};
  std::shared_ptr<Listing> listing;
  {
    const std::scoped_lock lock(lists_mutex_);
    std::shared_ptr<Listing>& asked = lists_[key];
    if (asked != nullptr) {
      if (ahead) return;
      return asked->then.push_back(std::move(then));
    }
    listing = asked = std::make_shared<Listing>();
    listing->ahead = ahead;
    listing->then.push_back(std::move(then));
  }
  mount::DaemonLink::Answer answer;
  answer.on_page = [listing](const uint8_t* page, size_t length) {
    const size_t most = listing->ahead ? kMostListingBytesAhead : kMostListingBytes;
    listing->too_much = listing->too_much || listing->entries.size() + length > most;
    if (!listing->too_much) listing->entries.insert(listing->entries.end(), page, page + length);
  };
  answer.on_done = [this, key, listing](int error, mount::Reader) {
    if (error == 0) PutListing(key.first, key.second, *listing, &error);
    if (error == ENOENT) notifier_.Notify(inodes_.PutAbsent(key.first, key.second));
    std::vector<Then> all;
    {
      const std::scoped_lock lock(lists_mutex_);
      lists_.erase(key);
      all.swap(listing->then);
    }
    std::vector<mount::Line> lines;
    const bool unknown = error == kPeerAway && inodes_.List(key.first, false, &lines) == InodeTable::Known::kAsk;
    // A prefetched listing has a lower limit: request it again for a caller that needs it.
    const bool again = unknown || (error == EOVERFLOW && listing->ahead);
    if (error == kPeerAway) error = 0;
    for (const Then& one : all) again ? AskList(key.first, one) : one(error);
  };
  link_.Ask(Type::kList, mount::message::List{path}.Body(), std::move(answer));
}

void Server::PutListing(uint64_t ino, InodeTable::Doubt doubt, const Listing& listing, int* error) {
  std::vector<stream::Entry> entries;
  for (size_t at = 0; at < listing.entries.size();) {
    stream::Entry entry;
    if (!stream::ParseEntry(listing.entries.data(), listing.entries.size(), &at, &entry).ok()) {
      *error = EIO;
      return;
    }
    entries.push_back(entry);
  }
  *error = listing.too_much ? EOVERFLOW : 0;
  // Then the inode numbers are in name order: some programs read files in that order.
  std::sort(entries.begin(), entries.end(),
            [](const stream::Entry& one, const stream::Entry& other) { return one.name < other.name; });
  if (*error == 0) notifier_.Notify(inodes_.PutListing(ino, doubt, entries));
}

struct stat Server::StatOf(const Found& found) const {
  const auto& [type, mode, mtime_ns, size] = found.attributes;
  struct stat status {};
  status.st_ino = found.number;
  status.st_mode = TypeBitsOf(type) | mode;
  status.st_nlink = found.gone ? 0 : 1;  // 1 for directories too: their subdirectories are not counted
  status.st_uid = getuid();
  status.st_gid = getgid();
  status.st_size = static_cast<off_t>(size);
  status.st_blksize = stream::kCacheBlockBytes;
  status.st_blocks = static_cast<blkcnt_t>((size + 511) / 512);
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  int64_t seconds = mtime_ns / kNsPerSecond, ns = mtime_ns % kNsPerSecond;
  if (ns < 0) {
    seconds--;
    ns += kNsPerSecond;
  }
  status.st_mtim = status.st_ctim = status.st_atim = {static_cast<time_t>(seconds), static_cast<long>(ns)};
  return status;
}

void Server::Amend(Found* found) {
  if (found->attributes.type != EntryType::kFile) return;
  const std::shared_ptr<mount::OverlayFile> overlay = OverlayOf(found->ino);
  if (overlay == nullptr) return;
  const auto [size, mtime_ns] = overlay->version();
  found->attributes.size = size;
  found->attributes.mtime_ns = mtime_ns;
}

void Server::Verify(uint64_t ino) {
  constexpr int kMostAtOnce = 256;
  if (verifying_ >= kMostAtOnce) return notifier_.Notify(inodes_.Doubted(ino));
  verifying_++;
  AskLook(ino, [this, ino](int error) {
    verifying_--;
    if (error != 0 && error != ESTALE) notifier_.Notify(inodes_.Doubted(ino));
  });
}

void Server::ReplyEntry(fuse_req_t request, const Found& there) {
  Found found = there;
  Amend(&found);
  fuse_entry_param entry{};
  entry.ino = found.ino;
  entry.attr = StatOf(found);
  entry.attr_timeout = entry.entry_timeout = found.sure ? inodes_.TrustSeconds() : 0;
  if (fuse_reply_entry(request, &entry) == -ENOENT) inodes_.Forget(found.ino, 1);
}

void Server::Lookup(fuse_req_t request, uint64_t parent, const std::string& name, bool answered) {
  if (name.size() > core::kMaxNameBytes) {
    fuse_reply_err(request, ENAMETOOLONG);
    return;
  }
  Found found;
  const InodeTable::Known known = inodes_.Lookup(parent, name, answered, &found);
  if (known == InodeTable::Known::kYes) return ReplyEntry(request, found);
  if (known == InodeTable::Known::kAbsent) {
    fuse_entry_param absent{};
    absent.entry_timeout = kAbsentSeconds;
    fuse_reply_entry(request, &absent);
    return;
  }
  Later(
      request,
      [this, parent, name](fuse_req_t later, int error) {
        if (error == 0) return Lookup(later, parent, name, true);
        fuse_reply_err(later, error);
      },
      [&](Then then) { found.ino == 0 ? AskList(parent, std::move(then)) : AskLook(found.ino, std::move(then)); });
}

void Server::Forget(uint64_t ino, uint64_t times) {
  inodes_.Forget(ino, times);
  contents_.Forget(ino);
  write_back_.Forget(ino);
}

void Server::GetAttributes(fuse_req_t request, uint64_t ino, bool answered) {
  Found found;
  const InodeTable::Known known = inodes_.Look(ino, answered, &found);
  if (known == InodeTable::Known::kYes) {
    Amend(&found);
    const struct stat status = StatOf(found);
    fuse_reply_attr(request, &status, found.sure ? inodes_.TrustSeconds() : 0);
  } else if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, ESTALE);
  } else {
    Later(
        request,
        [this, ino](fuse_req_t later, int error) {
          if (error == 0) return GetAttributes(later, ino, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { AskLook(ino, std::move(then)); });
  }
}

void Server::ReadLink(fuse_req_t request, uint64_t ino) {
  std::string target;
  const InodeTable::Known known = inodes_.ReadLink(ino, &target);
  if (known == InodeTable::Known::kYes) {
    fuse_reply_readlink(request, target.c_str());
  } else if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, EINVAL);
  } else {
    Later(
        request,
        [this, ino](fuse_req_t later, int error) {
          std::string now;
          if (error == 0 && inodes_.ReadLink(ino, &now) == InodeTable::Known::kAbsent) error = ESTALE;
          if (error != 0) {
            fuse_reply_err(later, error);
          } else {
            fuse_reply_readlink(later, now.c_str());
          }
        },
        [&](Then then) { AskLook(ino, std::move(then)); });
  }
}

void Server::OpenDirectory(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered) {
  auto directory = std::make_unique<OpenedDirectory>();
  const InodeTable::Known known = inodes_.List(ino, answered, &directory->lines);
  if (known == InodeTable::Known::kYes) {
    fuse_file_info opened = info;
    opened.fh = reinterpret_cast<uint64_t>(directory.get());
    if (fuse_reply_open(request, &opened) == 0) directory.release();
    WalkOn(ino, true);
  } else if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, ENOENT);
  } else {
    Later(
        request,
        [this, ino, info](fuse_req_t later, int error) {
          if (error == 0) return OpenDirectory(later, ino, info, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { AskList(ino, std::move(then)); });
  }
}

void Server::ReadDirectory(fuse_req_t request, uint64_t ino, size_t size, off_t offset, OpenedDirectory* opened,
                           bool with_attributes, bool answered) {
  std::unique_lock lock(opened->mutex);
  // A rewound directory shows its current entries; a removed one is empty.
  if (offset == 0 && opened->begun) {
    std::vector<mount::Line> now;
    if (inodes_.List(ino, answered, &now) == InodeTable::Known::kAsk) {
      lock.unlock();
      return Later(
          request,
          [=, this](fuse_req_t later, int error) {
            if (error == 0) return ReadDirectory(later, ino, size, offset, opened, with_attributes, true);
            fuse_reply_err(later, error);
          },
          [&](Then then) { AskList(ino, std::move(then)); });
    }
    opened->lines.swap(now);
  }
  opened->begun = true;
  const std::vector<mount::Line>& lines = opened->lines;
  std::vector<char> buffer(size);
  size_t used = 0;
  Found own;
  inodes_.Look(ino, true, &own);
  for (auto at = static_cast<size_t>(offset); at < lines.size() + 2; at++) {
    const mount::Line line =
        at < 2 ? mount::Line{own.number, EntryType::kDirectory, at == 0 ? "." : ".."} : lines[at - 2];
    fuse_entry_param entry{};
    entry.attr.st_ino = line.number;
    entry.attr.st_mode = TypeBitsOf(line.type);
    Found found;
    // An entry in doubt is listed by name alone; the kernel looks it up when it is needed.
    const bool known =
        with_attributes && at >= 2 && inodes_.Lookup(ino, line.name, false, &found) == InodeTable::Known::kYes;
    if (known) {
      Amend(&found);
      entry.ino = found.ino;
      entry.attr = StatOf(found);
      entry.attr_timeout = entry.entry_timeout = inodes_.TrustSeconds();
    }
    const char* const name = line.name.c_str();
    const auto next = static_cast<off_t>(at + 1);
    char* const to = buffer.data() + used;
    const size_t bytes = with_attributes ? fuse_add_direntry_plus(request, to, size - used, name, &entry, next)
                                         : fuse_add_direntry(request, to, size - used, name, &entry.attr, next);
    if (bytes > size - used) {
      if (known) inodes_.Forget(found.ino, 1);
      break;
    }
    used += bytes;
  }
  // The reply lets the kernel release the directory, on another thread: the lock must not outlive it.
  lock.unlock();
  fuse_reply_buf(request, buffer.data(), used);
}

void Server::StatFs(fuse_req_t request) {
  const uint64_t ticket = pending_requests_.Add(request);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, ticket](int error, mount::Reader body) {
    struct statvfs space {};
    space.f_bsize = space.f_frsize = 4096;
    space.f_namemax = core::kMaxNameBytes;
    if (error == 0) {
      const auto answer = mount::message::SpaceAnswer::Parse(body);
      space.f_blocks = answer.total_bytes / space.f_frsize;
      const uint64_t dirty = std::min(answer.free_bytes, write_back_.dirty_bytes());
      space.f_bfree = space.f_bavail = (answer.free_bytes - dirty) / space.f_frsize;
    }
    // A missing answer is no reason to fail.
    if (fuse_req_t taken; pending_requests_.Take(ticket, &taken)) fuse_reply_statfs(taken, &space);
  };
  link_.Ask(Type::kSpace, mount::Writer(), std::move(answer));
}

}  // namespace keibi::fuse
