// SPDX-License-Identifier: MPL-2.0
#include "fuse/lookup_ops.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/limits.h"
#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using manifest::EntryType;
using mount::Found;
using mount::InodeTable;
using mount::Type;

// For how long the kernel may cache that a name is absent. We do not track which absent names it has cached.
constexpr double kAbsentSeconds = 1;

mode_t TypeBitsOf(EntryType type) {
  if (type == EntryType::kDirectory) return S_IFDIR;
  return type == EntryType::kSymlink ? S_IFLNK : S_IFREG;
}

}  // namespace

struct stat LookupOps::StatOf(const Found& found) const {
  const auto& [type, mode, mtime_ns, size] = found.attributes;
  struct stat status {};
  status.st_ino = found.number;
  status.st_mode = TypeBitsOf(type) | mode;
  status.st_nlink = found.gone ? 0 : 1;  // 1 for directories too: their subdirectories are not counted
  status.st_uid = getuid();
  status.st_gid = getgid();
  status.st_size = static_cast<off_t>(size);
  status.st_blksize = remote::kCacheBlockBytes;
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

void LookupOps::Amend(Found* found) {
  if (found->attributes.type != EntryType::kFile) return;
  const std::shared_ptr<mount::OverlayFile> overlay = parts_.overlays.OverlayOf(found->ino);
  if (overlay == nullptr) return;
  const auto [size, mtime_ns] = overlay->version();
  found->attributes.size = size;
  found->attributes.mtime_ns = mtime_ns;
}

void LookupOps::ReplyEntry(fuse_req_t request, const Found& there) {
  Found found = there;
  Amend(&found);
  fuse_entry_param entry{};
  entry.ino = found.ino;
  entry.attr = StatOf(found);
  entry.attr_timeout = entry.entry_timeout = found.sure ? parts_.inodes.TrustSeconds() : 0;
  if (fuse_reply_entry(request, &entry) == -ENOENT) parts_.inodes.Forget(found.ino, 1);
}

void LookupOps::ReplyAttributes(fuse_req_t request, uint64_t ino) { GetAttributes(request, ino, true); }

void LookupOps::Lookup(fuse_req_t request, uint64_t parent, const std::string& name, bool answered) {
  if (name.size() > core::kMaxNameBytes) {
    fuse_reply_err(request, ENAMETOOLONG);
    return;
  }
  Found found;
  const InodeTable::Known known = parts_.inodes.Lookup(parent, name, answered, &found);
  if (known == InodeTable::Known::kYes) return ReplyEntry(request, found);
  if (known == InodeTable::Known::kAbsent) {
    fuse_entry_param absent{};
    absent.entry_timeout = kAbsentSeconds;
    fuse_reply_entry(request, &absent);
    return;
  }
  parts_.requests.Later(
      request,
      [this, parent, name](fuse_req_t later, int error) {
        if (error == 0) return Lookup(later, parent, name, true);
        fuse_reply_err(later, error);
      },
      [&](Then then) {
        found.ino == 0 ? parts_.requests.AskList(parent, std::move(then))
                       : parts_.requests.AskLook(found.ino, std::move(then));
      });
}

void LookupOps::Forget(uint64_t ino, uint64_t times) {
  parts_.inodes.Forget(ino, times);
  parts_.contents.Forget(ino);
  parts_.write_back.unsynced().Remove(ino);
}

void LookupOps::GetAttributes(fuse_req_t request, uint64_t ino, bool answered) {
  Found found;
  const InodeTable::Known known = parts_.inodes.Look(ino, answered, &found);
  if (known == InodeTable::Known::kYes) {
    Amend(&found);
    const struct stat status = StatOf(found);
    fuse_reply_attr(request, &status, found.sure ? parts_.inodes.TrustSeconds() : 0);
  } else if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, ESTALE);
  } else {
    parts_.requests.Later(
        request,
        [this, ino](fuse_req_t later, int error) {
          if (error == 0) return GetAttributes(later, ino, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { parts_.requests.AskLook(ino, std::move(then)); });
  }
}

void LookupOps::ReadLink(fuse_req_t request, uint64_t ino) {
  std::string target;
  const InodeTable::Known known = parts_.inodes.ReadLink(ino, &target);
  if (known == InodeTable::Known::kYes) {
    fuse_reply_readlink(request, target.c_str());
  } else if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, EINVAL);
  } else {
    parts_.requests.Later(
        request,
        [this, ino](fuse_req_t later, int error) {
          std::string now;
          if (error == 0 && parts_.inodes.ReadLink(ino, &now) == InodeTable::Known::kAbsent) error = ESTALE;
          if (error != 0) {
            fuse_reply_err(later, error);
          } else {
            fuse_reply_readlink(later, now.c_str());
          }
        },
        [&](Then then) { parts_.requests.AskLook(ino, std::move(then)); });
  }
}

void LookupOps::OpenDirectory(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered) {
  auto directory = std::make_unique<OpenedDirectory>();
  const InodeTable::Known known = parts_.inodes.List(ino, answered, &directory->lines);
  if (known == InodeTable::Known::kYes) {
    fuse_file_info opened = info;
    opened.fh = reinterpret_cast<uint64_t>(directory.get());
    if (fuse_reply_open(request, &opened) == 0) directory.release();
    parts_.prefetcher.WalkOn(ino, true);
  } else if (known == InodeTable::Known::kAbsent) {
    fuse_reply_err(request, ENOENT);
  } else {
    parts_.requests.Later(
        request,
        [this, ino, info](fuse_req_t later, int error) {
          if (error == 0) return OpenDirectory(later, ino, info, true);
          fuse_reply_err(later, error);
        },
        [&](Then then) { parts_.requests.AskList(ino, std::move(then)); });
  }
}

void LookupOps::ReadDirectory(fuse_req_t request, uint64_t ino, size_t size, off_t offset, OpenedDirectory* opened,
                              bool with_attributes, bool answered) {
  std::unique_lock lock(opened->mutex);
  // A rewound directory shows its current entries; a removed one is empty.
  if (offset == 0 && opened->begun) {
    std::vector<mount::Line> now;
    if (parts_.inodes.List(ino, answered, &now) == InodeTable::Known::kAsk) {
      lock.unlock();
      return parts_.requests.Later(
          request,
          [=, this](fuse_req_t later, int error) {
            if (error == 0) return ReadDirectory(later, ino, size, offset, opened, with_attributes, true);
            fuse_reply_err(later, error);
          },
          [&](Then then) { parts_.requests.AskList(ino, std::move(then)); });
    }
    opened->lines.swap(now);
  }
  opened->begun = true;
  const std::vector<mount::Line>& lines = opened->lines;
  std::vector<char> buffer(size);
  size_t used = 0;
  Found own;
  parts_.inodes.Look(ino, true, &own);
  for (auto at = static_cast<size_t>(offset); at < lines.size() + 2; at++) {
    const mount::Line line =
        at < 2 ? mount::Line{own.number, EntryType::kDirectory, at == 0 ? "." : ".."} : lines[at - 2];
    fuse_entry_param entry{};
    entry.attr.st_ino = line.number;
    entry.attr.st_mode = TypeBitsOf(line.type);
    Found found;
    // An entry in doubt is listed by name alone; the kernel looks it up when it is needed.
    const bool known =
        with_attributes && at >= 2 && parts_.inodes.Lookup(ino, line.name, false, &found) == InodeTable::Known::kYes;
    if (known) {
      Amend(&found);
      entry.ino = found.ino;
      entry.attr = StatOf(found);
      entry.attr_timeout = entry.entry_timeout = parts_.inodes.TrustSeconds();
    }
    const char* const name = line.name.c_str();
    const auto next = static_cast<off_t>(at + 1);
    char* const to = buffer.data() + used;
    const size_t bytes = with_attributes ? fuse_add_direntry_plus(request, to, size - used, name, &entry, next)
                                         : fuse_add_direntry(request, to, size - used, name, &entry.attr, next);
    if (bytes > size - used) {
      if (known) parts_.inodes.Forget(found.ino, 1);
      break;
    }
    used += bytes;
  }
  // The reply lets the kernel release the directory, on another thread: the lock must not outlive it.
  lock.unlock();
  fuse_reply_buf(request, buffer.data(), used);
}

void LookupOps::StatFs(fuse_req_t request) {
  const uint64_t ticket = parts_.pending_requests.Add(request);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, ticket](int error, mount::Reader body) {
    struct statvfs space {};
    space.f_bsize = space.f_frsize = 4096;
    space.f_namemax = core::kMaxNameBytes;
    if (error == 0) {
      const auto answer = mount::message::SpaceAnswer::Parse(body);
      space.f_blocks = answer.total_bytes / space.f_frsize;
      const uint64_t dirty = std::min(answer.free_bytes, parts_.write_back.limit().bytes());
      space.f_bfree = space.f_bavail = (answer.free_bytes - dirty) / space.f_frsize;
    }
    // A missing answer is no reason to fail.
    if (fuse_req_t taken; parts_.pending_requests.Take(ticket, &taken)) fuse_reply_statfs(taken, &space);
  };
  parts_.link.Ask(Type::kSpace, mount::Writer(), std::move(answer));
}

}  // namespace keibi::fuse
