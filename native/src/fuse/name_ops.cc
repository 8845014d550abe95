// SPDX-License-Identifier: MPL-2.0
#include "fuse/name_ops.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using mount::Found;
using mount::InodeTable;
using mount::Type;
namespace message = mount::message;
using MakeMessage = message::Make;
using manifest::Entry;
using manifest::EntryType;

constexpr uint8_t kReplace = 0, kKeep = 1, kExchange = 2;
constexpr unsigned kNoReplaceFlag = 1, kExchangeFlag = 2;  // of renameat2(2)

}  // namespace

bool NameOps::PathFor(fuse_req_t request, uint64_t parent, const std::string& name, std::string* path) {
  int error = 0;
  InodeTable::Doubt doubt;
  if (name.size() > core::kMaxNameBytes) {
    error = ENAMETOOLONG;
  } else if (!manifest::IsAcceptableName(name)) {
    error = EINVAL;
  } else if (name.starts_with(manifest::kStagingName)) {
    error = EPERM;
  } else if (!parts_.inodes.Ask(parent, path, &doubt)) {
    error = ENOENT;
  }
  if (error != 0) {
    fuse_reply_err(request, error);
    return false;
  }
  if (!path->empty()) *path += '/';
  *path += name;
  return true;
}

// Ends our change of a name. After a failure the name is in doubt: the next use requests it.
void NameOps::Settle(uint64_t parent, const std::string& name, int error) {
  const bool noticed = parts_.inodes.own_changes().Expected(parent, name);
  if (error != 0) return parts_.notifier.Notify(parts_.inodes.notices().DoubtedName(parent, name));
  if (!noticed) return;
  if (const uint64_t ino = parts_.inodes.Child(parent, name); ino != 0) parts_.requests.Verify(ino);
}

void NameOps::SettleIn(uint64_t parent, const std::string& name, int error, mount::Reader rest) {
  Settle(parent, name, error);
  if (error == 0 && rest.left() >= sizeof(uint64_t))
    parts_.inodes.own_changes().Became(parent, message::MakeAnswer::Parse(rest).directory_mtime_ns);
}

void NameOps::Make(fuse_req_t request, uint64_t parent, const std::string& name, EntryType type, mode_t mode,
                   const std::string& target) {
  std::string path;
  if (target.size() > core::kMaxTargetBytes || (mode & kRefusedBits) != 0) {
    fuse_reply_err(request, target.size() > core::kMaxTargetBytes ? ENAMETOOLONG : EPERM);
    return;
  }
  if (!PathFor(request, parent, name, &path)) return;
  const MakeMessage make{static_cast<MakeMessage::Kind>(type), static_cast<uint16_t>(mode & 0777), path, target};
  const uint64_t ticket = parts_.pending_requests.Add(request);
  parts_.inodes.own_changes().Expect(parent, name);
  parts_.link.Ask(
      Type::kMake, make.Body(),
      parts_.requests.EntryAnswer([this, ticket, parent, name](int error, const Entry& made, mount::Reader rest) {
        Entry entry = made;
        entry.name = name;
        fuse_req_t later;
        const bool there = parts_.pending_requests.Take(ticket, &later);
        Found found;
        if (error == 0) parts_.inodes.own_changes().Made(parent, entry, there ? &found : nullptr);
        SettleIn(parent, name, error, rest);
        if (!there) return;
        if (error == 0 && found.ino == 0) error = ESTALE;
        if (error == 0) return lookup_.ReplyEntry(later, found);
        fuse_reply_err(later, error);
      }));
}

void NameOps::Create(fuse_req_t request, uint64_t parent, const std::string& name, mode_t mode,
                     const fuse_file_info& info) {
  std::string path;
  if ((mode & kRefusedBits) != 0) {
    fuse_reply_err(request, EPERM);
    return;
  }
  if (!PathFor(request, parent, name, &path)) return;
  const MakeMessage make{MakeMessage::Kind::kFile, static_cast<uint16_t>(mode & 0777), path, {}};
  const uint64_t ticket = parts_.pending_requests.Add(request);
  parts_.inodes.own_changes().Expect(parent, name);
  parts_.link.Ask(
      Type::kMake, make.Body(),
      parts_.requests.EntryAnswer([this, ticket, parent, name, info](int error, const Entry& made, mount::Reader rest) {
        Entry entry = made;
        entry.name = name;
        fuse_req_t later;
        const bool there = parts_.pending_requests.Take(ticket, &later);
        if (error == 0) parts_.inodes.own_changes().Made(parent, entry, nullptr);
        SettleIn(parent, name, error, rest);
        if (!there) return;
        if (error == 0) return OpenMade(later, parent, name, info);
        if (error != EEXIST || (info.flags & O_EXCL) != 0) {
          fuse_reply_err(later, error);
          return;
        }
        // It was created since the kernel learned that it did not exist.
        parts_.requests.Later(
            later,
            [this, parent, name, info](fuse_req_t last, int failure) {
              if (failure == 0) return OpenMade(last, parent, name, info);
              fuse_reply_err(last, failure);
            },
            [&](Then then) { parts_.requests.AskList(parent, std::move(then)); });
      }));
}

void NameOps::OpenMade(fuse_req_t request, uint64_t parent, const std::string& name, const fuse_file_info& info) {
  Found found;
  int error = parts_.inodes.Lookup(parent, name, true, &found) == InodeTable::Known::kYes ? 0 : EIO;
  const uint64_t held = error == 0 ? found.ino : 0;
  const mount::WriteBack::Use use(&parts_.write_back, held);
  if (error == 0 && found.attributes.type != EntryType::kFile) error = EEXIST;
  if (error == 0 && (info.flags & O_TRUNC) != 0 && found.attributes.size > 0) {
    std::shared_ptr<mount::OverlayFile> overlay;
    error = parts_.overlays.MakeOverlay(found.ino, true, &overlay);
    if (error == 0) error = overlay->Truncate(0, parts_.overlays.Now());
    if (error == 0) parts_.write_back.Changed(found.ino, overlay);
  }
  if (error != 0) {
    if (held != 0) parts_.inodes.Forget(held, 1);
    fuse_reply_err(request, error);
    return;
  }
  lookup_.Amend(&found);
  auto handle = std::make_unique<Handle>();
  handle->writes = (info.flags & O_ACCMODE) != O_RDONLY;
  fuse_entry_param entry{};
  entry.ino = found.ino;
  entry.attr = lookup_.StatOf(found);
  entry.attr_timeout = entry.entry_timeout = found.sure ? parts_.inodes.TrustSeconds() : 0;
  fuse_file_info opened = info;
  opened.fh = reinterpret_cast<uint64_t>(handle.get());
  parts_.write_back.Opened(found.ino);
  if (fuse_reply_create(request, &entry, &opened) == 0) {
    handle.release();
  } else {
    parts_.write_back.Closed(found.ino);
    parts_.inodes.Forget(found.ino, 1);
  }
}

void NameOps::Remove(fuse_req_t request, uint64_t parent, const std::string& name, bool directory) {
  std::string path;
  if (!PathFor(request, parent, name, &path)) return;
  mount::WriteBack::Held held;
  const uint64_t ino = parts_.inodes.Child(parent, name);
  if (!directory && ino != 0) held.files = held.stopped = {ino};
  const uint64_t ticket = parts_.pending_requests.Add(request);
  parts_.inodes.own_changes().Expect(parent, name);
  const auto remove = [=, this](int) {
    mount::DaemonLink::Answer answer;
    answer.on_done = [=, this](int error, mount::Reader rest) {
      if (error == 0) {
        parts_.inodes.own_changes().Removed(parent, name);
        if (!directory && ino != 0) parts_.write_back.Gone(ino);
      }
      SettleIn(parent, name, error, rest);
      parts_.write_back.Release(held);
      if (fuse_req_t later; parts_.pending_requests.Take(ticket, &later)) fuse_reply_err(later, error);
    };
    parts_.link.Ask(Type::kRemove, message::Remove{directory, path}.Body(), std::move(answer));
  };
  parts_.write_back.Hold(held,
                         [=, this](int) { directory ? remove(0) : parts_.prefetcher.FetchForOpen(ino, path, remove); });
}

void NameOps::Rename(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                     const std::string& to, unsigned how) {
  if (how != 0 && how != kNoReplaceFlag && how != kExchangeFlag) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  std::string path;
  if (!PathFor(request, parent, name, &path) || !PathFor(request, to_parent, to, &path)) return;
  const uint8_t kind = how == kNoReplaceFlag ? kKeep : how == kExchangeFlag ? kExchange : kReplace;
  // Before a file replaces another, its bytes are sent, unless that takes too long.
  const uint64_t moved = parts_.inodes.Child(parent, name);
  parts_.requests.Later(
      request, [=, this](fuse_req_t later, int) { RenameNow(later, parent, name, to_parent, to, kind); },
      [&](Then then) {
        parts_.write_back.When(moved, mount::PutWaiters::For::kSent, parts_.options.patience / 2, std::move(then));
      });
}

void NameOps::RenameNow(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                        const std::string& to, uint8_t how) {
  std::string from_path, to_path;
  if (!PathFor(request, parent, name, &from_path) || !PathFor(request, to_parent, to, &to_path)) return;
  const uint64_t moved = parts_.inodes.Child(parent, name), other = parts_.inodes.Child(to_parent, to);
  Found found;
  const bool directory = moved != 0 && parts_.inodes.Look(moved, true, &found) == InodeTable::Known::kYes &&
                         found.attributes.type == EntryType::kDirectory;
  mount::WriteBack::Held held;
  if (directory) held.below = from_path;
  for (const uint64_t ino : {moved, other}) {
    if (ino != 0 && (ino == moved || other != moved)) held.files.push_back(ino);
  }
  held.stopped = held.files;
  for (const uint64_t ino : held.files) {
    parts_.inodes.Hold(ino);
    parts_.inodes.own_changes().Moving(ino, true);
  }
  const uint64_t ticket = parts_.pending_requests.Add(request);
  parts_.inodes.own_changes().Expect(parent, name);
  parts_.inodes.own_changes().Expect(to_parent, to);
  const bool file = found.attributes.type == EntryType::kFile;
  const auto rename = [=, this](int) {
    mount::DaemonLink::Answer answer;
    answer.on_done = [=, this](int error, mount::Reader) {
      if (error == 0 && file) parts_.contents.Renamed(moved, from_path, to_path, found.attributes);
      if (error == 0) {
        parts_.inodes.own_changes().Renamed(parent, name, to_parent, to, how == kExchange);
        if (how == kReplace && other != 0 && other != moved) parts_.write_back.Gone(other);
      }
      Settle(parent, name, error);
      Settle(to_parent, to, error);
      for (const uint64_t node : held.files) {
        parts_.inodes.own_changes().Moving(node, false);
        parts_.inodes.Forget(node, 1);
      }
      parts_.write_back.Release(held);
      if (fuse_req_t later; parts_.pending_requests.Take(ticket, &later)) fuse_reply_err(later, error);
    };
    const message::Rename body{static_cast<message::Rename::How>(how), from_path, to_path};
    parts_.link.Ask(Type::kRename, body.Body(), std::move(answer));
  };
  const bool replaces = how == kReplace && other != moved;
  parts_.write_back.Hold(
      held, [=, this](int) { replaces ? parts_.prefetcher.FetchForOpen(other, to_path, rename) : rename(0); });
}

void NameOps::SyncDirectory(fuse_req_t request, uint64_t ino) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, 0);  // it was removed, with all its entries
    return;
  }
  parts_.requests.AskPlainly(request, Type::kSyncDirectory, message::SyncDirectory{path}.Body());
}

}  // namespace keibi::fuse
