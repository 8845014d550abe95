// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "fuse/server.h"

// Names and attributes: each change is made at the other peer before it is answered.
namespace keibi::fuse {
namespace {

using mount::Found;
using mount::InodeTable;
using mount::Type;
using mount::Writer;
namespace message = mount::message;
using MakeMessage = message::Make;
using stream::Entry;
using stream::EntryType;

constexpr std::string_view kUserNames = "user.";
constexpr size_t kMostValueBytes = 65536;  // XATTR_SIZE_MAX
constexpr uint8_t kReplace = 0, kKeep = 1, kExchange = 2;
constexpr unsigned kNoReplaceFlag = 1, kExchangeFlag = 2;  // of renameat2(2)

}  // namespace

mount::DaemonLink::Answer Server::EntryAnswer(std::function<void(int, const Entry&, mount::Reader)> then) {
  const auto page = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [page](const uint8_t* bytes, size_t length) { page->assign(bytes, bytes + length); };
  answer.on_done = [page, then = std::move(then)](int error, mount::Reader rest) {
    Entry entry;
    size_t at = 0;
    if (error == 0 && !stream::ParseEntry(page->data(), page->size(), &at, &entry).ok()) error = EIO;
    then(error, entry, rest);
  };
  return answer;
}

void Server::AskPlainly(fuse_req_t request, Type type, const Writer& body) {
  const uint64_t ticket = pending_requests_.Add(request);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, ticket](int error, mount::Reader) {
    if (fuse_req_t later; pending_requests_.Take(ticket, &later)) fuse_reply_err(later, error);
  };
  link_.Ask(type, body, std::move(answer));
}

void Server::AskValue(fuse_req_t request, Type type, const Writer& body, size_t size) {
  const uint64_t ticket = pending_requests_.Add(request);
  const auto value = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [value](const uint8_t* bytes, size_t length) { value->assign(bytes, bytes + length); };
  answer.on_done = [this, ticket, value, size](int error, mount::Reader) {
    fuse_req_t later;
    if (!pending_requests_.Take(ticket, &later)) return;
    if (error == 0 && value->size() > kMostValueBytes) error = E2BIG;
    if (error == 0 && size > 0 && value->size() > size) error = ERANGE;
    if (error != 0) {
      fuse_reply_err(later, error);
    } else if (size == 0) {
      fuse_reply_xattr(later, value->size());
    } else {
      fuse_reply_buf(later, reinterpret_cast<const char*>(value->data()), value->size());
    }
  };
  link_.Ask(type, body, std::move(answer));
}

bool Server::PathFor(fuse_req_t request, uint64_t parent, const std::string& name, std::string* path) {
  int error = 0;
  InodeTable::Doubt doubt;
  if (name.size() > core::kMaxNameBytes) {
    error = ENAMETOOLONG;
  } else if (!stream::IsAcceptableName(name)) {
    error = EINVAL;
  } else if (name.starts_with(stream::kStagingName)) {
    error = EPERM;
  } else if (!inodes_.Ask(parent, path, &doubt)) {
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

// Ends our change of a name. After a failure, what is known of the name is in doubt.
void Server::Settle(uint64_t parent, const std::string& name, int error) {
  const bool noticed = inodes_.Expected(parent, name);
  if (error != 0) return notifier_.Notify(inodes_.DoubtedName(parent, name));
  if (!noticed) return;
  if (const uint64_t ino = inodes_.Child(parent, name); ino != 0) Verify(ino);
}

void Server::SettleIn(uint64_t parent, const std::string& name, int error, mount::Reader rest) {
  Settle(parent, name, error);
  if (error == 0 && rest.left() >= sizeof(uint64_t))
    inodes_.Became(parent, mount::message::MakeAnswer::Parse(rest).directory_mtime_ns);
}

void Server::Make(fuse_req_t request, uint64_t parent, const std::string& name, EntryType type, mode_t mode,
                  const std::string& target) {
  std::string path;
  if (target.size() > core::kMaxTargetBytes || (mode & kRefusedBits) != 0) {
    fuse_reply_err(request, target.size() > core::kMaxTargetBytes ? ENAMETOOLONG : EPERM);
    return;
  }
  if (!PathFor(request, parent, name, &path)) return;
  const MakeMessage make{static_cast<MakeMessage::Kind>(type), static_cast<uint16_t>(mode & 0777), path, target};
  const uint64_t ticket = pending_requests_.Add(request);
  inodes_.Expect(parent, name);
  link_.Ask(Type::kMake, make.Body(),
            EntryAnswer([this, ticket, parent, name](int error, const Entry& made, mount::Reader rest) {
              Entry entry = made;
              entry.name = name;
              fuse_req_t later;
              const bool there = pending_requests_.Take(ticket, &later);
              Found found;
              if (error == 0) inodes_.Made(parent, entry, there ? &found : nullptr);
              SettleIn(parent, name, error, rest);
              if (!there) return;
              if (error == 0 && found.ino == 0) error = ESTALE;
              if (error == 0) return ReplyEntry(later, found);
              fuse_reply_err(later, error);
            }));
}

void Server::Create(fuse_req_t request, uint64_t parent, const std::string& name, mode_t mode,
                    const fuse_file_info& info) {
  std::string path;
  if ((mode & kRefusedBits) != 0) {
    fuse_reply_err(request, EPERM);
    return;
  }
  if (!PathFor(request, parent, name, &path)) return;
  const MakeMessage make{MakeMessage::Kind::kFile, static_cast<uint16_t>(mode & 0777), path, {}};
  const uint64_t ticket = pending_requests_.Add(request);
  inodes_.Expect(parent, name);
  link_.Ask(Type::kMake, make.Body(),
            EntryAnswer([this, ticket, parent, name, info](int error, const Entry& made, mount::Reader rest) {
              Entry entry = made;
              entry.name = name;
              fuse_req_t later;
              const bool there = pending_requests_.Take(ticket, &later);
              if (error == 0) inodes_.Made(parent, entry, nullptr);
              SettleIn(parent, name, error, rest);
              if (!there) return;
              if (error == 0) return OpenMade(later, parent, name, info);
              if (error != EEXIST || (info.flags & O_EXCL) != 0) {
                fuse_reply_err(later, error);
                return;
              }
              // It was created since the kernel learned that it did not exist.
              Later(
                  later,
                  [this, parent, name, info](fuse_req_t last, int failure) {
                    if (failure == 0) return OpenMade(last, parent, name, info);
                    fuse_reply_err(last, failure);
                  },
                  [&](Then then) { AskList(parent, std::move(then)); });
            }));
}

void Server::OpenMade(fuse_req_t request, uint64_t parent, const std::string& name, const fuse_file_info& info) {
  Found found;
  int error = inodes_.Lookup(parent, name, true, &found) == InodeTable::Known::kYes ? 0 : EIO;
  const uint64_t held = error == 0 ? found.ino : 0;
  const mount::WriteBack::Use use(&write_back_, held);
  if (error == 0 && found.attributes.type != EntryType::kFile) error = EEXIST;
  if (error == 0 && (info.flags & O_TRUNC) != 0 && found.attributes.size > 0) {
    std::shared_ptr<mount::OverlayFile> overlay;
    error = MakeOverlay(found.ino, true, &overlay);
    if (error == 0) error = overlay->Truncate(0, Now());
    if (error == 0) write_back_.Changed(found.ino, overlay);
  }
  if (error != 0) {
    if (held != 0) inodes_.Forget(held, 1);
    fuse_reply_err(request, error);
    return;
  }
  Amend(&found);
  auto handle = std::make_unique<Handle>();
  handle->writes = (info.flags & O_ACCMODE) != O_RDONLY;
  fuse_entry_param entry{};
  entry.ino = found.ino;
  entry.attr = StatOf(found);
  entry.attr_timeout = entry.entry_timeout = found.sure ? inodes_.TrustSeconds() : 0;
  fuse_file_info opened = info;
  opened.fh = reinterpret_cast<uint64_t>(handle.get());
  write_back_.Opened(found.ino);
  if (fuse_reply_create(request, &entry, &opened) == 0) {
    handle.release();
  } else {
    write_back_.Closed(found.ino);
    inodes_.Forget(found.ino, 1);
  }
}

void Server::Remove(fuse_req_t request, uint64_t parent, const std::string& name, bool directory) {
  std::string path;
  if (!PathFor(request, parent, name, &path)) return;
  mount::WriteBack::Held held;
  const uint64_t ino = inodes_.Child(parent, name);
  if (!directory && ino != 0) held.files = held.stopped = {ino};
  const uint64_t ticket = pending_requests_.Add(request);
  inodes_.Expect(parent, name);
  const auto remove = [=, this](int) {
    mount::DaemonLink::Answer answer;
    answer.on_done = [=, this](int error, mount::Reader rest) {
      if (error == 0) {
        inodes_.Removed(parent, name);
        if (!directory && ino != 0) write_back_.Gone(ino);
      }
      SettleIn(parent, name, error, rest);
      write_back_.Release(held);
      if (fuse_req_t later; pending_requests_.Take(ticket, &later)) fuse_reply_err(later, error);
    };
    link_.Ask(Type::kRemove, message::Remove{directory, path}.Body(), std::move(answer));
  };
  write_back_.Hold(held, [=, this](int) { directory ? remove(0) : FetchForOpen(ino, path, remove); });
}

// An unlinked file stays readable for open handles, but cannot be fetched any more. Call while it is held.
void Server::FetchForOpen(uint64_t ino, const std::string& path, Then then) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  Found found;
  if (ino == 0 || !write_back_.IsOpen(ino) || inodes_.Look(ino, true, &found) != InodeTable::Known::kYes ||
      found.attributes.type != EntryType::kFile) {
    return then(0);
  }
  const std::shared_ptr<mount::OverlayFile> overlay = OverlayOf(ino);
  if (overlay != nullptr) {
    found.attributes.size = overlay->base().size;
    found.attributes.mtime_ns = overlay->base().mtime_ns;
  }
  std::shared_ptr<Content> content;
  if (found.attributes.size == 0 || found.attributes.size > kMostBytes ||
      !contents_.Open(path, found.attributes, &content).ok()) {
    return then(0);
  }
  const uint32_t blocks = content->file->blocks();
  content->kept = true;
  const bool whole = content->file->HasAll(0, blocks);
  if (overlay != nullptr) {
    overlay->AddContent(overlay->base(), std::shared_ptr<stream::CacheFile>(content, content->file.get()));
  }
  if (whole) return then(0);
  mount::DaemonLink::Answer answer;
  answer.on_done = [content, then = std::move(then)](int, mount::Reader) { then(0); };
  link_.Ask(Type::kWant, WantOf(ino, *content, 0, blocks, 0), std::move(answer));
}

void Server::Rename(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                    const std::string& to, unsigned how) {
  if (how != 0 && how != kNoReplaceFlag && how != kExchangeFlag) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  std::string path;
  if (!PathFor(request, parent, name, &path) || !PathFor(request, to_parent, to, &path)) return;
  const uint8_t kind = how == kNoReplaceFlag ? kKeep : how == kExchangeFlag ? kExchange : kReplace;
  // Before a file replaces another, its bytes are sent, unless that takes too long.
  const uint64_t moved = inodes_.Child(parent, name);
  Later(
      request, [=, this](fuse_req_t later, int) { RenameNow(later, parent, name, to_parent, to, kind); },
      [&](Then then) { write_back_.WhenSent(moved, options_.patience / 2, std::move(then)); });
}

void Server::RenameNow(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                       const std::string& to, uint8_t how) {
  std::string from_path, to_path;
  if (!PathFor(request, parent, name, &from_path) || !PathFor(request, to_parent, to, &to_path)) return;
  const uint64_t moved = inodes_.Child(parent, name), other = inodes_.Child(to_parent, to);
  Found found;
  const bool directory = moved != 0 && inodes_.Look(moved, true, &found) == InodeTable::Known::kYes &&
                         found.attributes.type == EntryType::kDirectory;
  mount::WriteBack::Held held;
  if (directory) held.below = from_path;
  for (const uint64_t ino : {moved, other}) {
    if (ino != 0 && (ino == moved || other != moved)) held.files.push_back(ino);
  }
  held.stopped = held.files;
  for (const uint64_t ino : held.files) {
    inodes_.Hold(ino);
    inodes_.Moving(ino, true);
  }
  const uint64_t ticket = pending_requests_.Add(request);
  inodes_.Expect(parent, name);
  inodes_.Expect(to_parent, to);
  const bool file = found.attributes.type == EntryType::kFile;
  const auto rename = [=, this](int) {
    mount::DaemonLink::Answer answer;
    answer.on_done = [=, this](int error, mount::Reader) {
      if (error == 0 && file) contents_.Renamed(moved, from_path, to_path, found.attributes);
      if (error == 0) {
        inodes_.Renamed(parent, name, to_parent, to, how == kExchange);
        if (how == kReplace && other != 0 && other != moved) write_back_.Gone(other);
      }
      Settle(parent, name, error);
      Settle(to_parent, to, error);
      for (const uint64_t node : held.files) {
        inodes_.Moving(node, false);
        inodes_.Forget(node, 1);
      }
      write_back_.Release(held);
      if (fuse_req_t later; pending_requests_.Take(ticket, &later)) fuse_reply_err(later, error);
    };
    const message::Rename body{static_cast<message::Rename::How>(how), from_path, to_path};
    link_.Ask(Type::kRename, body.Body(), std::move(answer));
  };
  const bool replaces = how == kReplace && other != moved;
  write_back_.Hold(held, [=, this](int) { replaces ? FetchForOpen(other, to_path, rename) : rename(0); });
}

void Server::SyncDirectory(fuse_req_t request, uint64_t ino) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!inodes_.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, 0);  // it was removed, with all its entries
    return;
  }
  AskPlainly(request, Type::kSyncDirectory, message::SyncDirectory{path}.Body());
}

void Server::GetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, size_t size) {
  std::string path;
  InodeTable::Doubt doubt;
  // Not ENODATA: a program that lists a directory would then ask for each file.
  if (!name.starts_with(kUserNames) || !inodes_.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, name.starts_with(kUserNames) ? ENODATA : ENOTSUP);
    return;
  }
  AskValue(request, Type::kGetAttribute, message::GetAttribute{path, name}.Body(), size);
}

void Server::SetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, std::string_view value, int how) {
  std::string path;
  InodeTable::Doubt doubt;
  int error = 0;
  if (!name.starts_with(kUserNames)) error = ENOTSUP;
  if (value.size() > kMostValueBytes) error = E2BIG;
  if (error == 0 && !inodes_.Ask(ino, &path, &doubt)) error = ENOENT;
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  using How = message::SetAttribute::How;
  const How wanted = how == XATTR_CREATE ? How::kNew : how == XATTR_REPLACE ? How::kOld : How::kAny;
  AskPlainly(request, Type::kSetAttribute, message::SetAttribute{wanted, path, name, value}.Body());
}

void Server::RemoveAttribute(fuse_req_t request, uint64_t ino, const std::string& name) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!name.starts_with(kUserNames) || !inodes_.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENODATA);
    return;
  }
  AskPlainly(request, Type::kRemoveAttribute, message::RemoveAttribute{path, name}.Body());
}

void Server::ListAttributes(fuse_req_t request, uint64_t ino, size_t size) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!inodes_.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  AskValue(request, Type::kListAttributes, message::ListAttributes{path}.Body(), size);
}

}  // namespace keibi::fuse
