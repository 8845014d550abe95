// SPDX-License-Identifier: MPL-2.0
#include "fuse/prefetcher.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using manifest::EntryType;
using mount::Found;
using mount::InodeTable;
using mount::Type;

constexpr size_t kMostFilesOfMessage = 64;

}  // namespace

uint64_t Prefetcher::MostBytesAhead() const { return uint64_t{parts_.most_ahead} * remote::kCacheBlockBytes; }

void Prefetcher::WalkOn(uint64_t ino, bool directory) {
  Follow(parts_.prefetch.Opened(ino, directory, MostBytesAhead()));
}

void Prefetcher::Follow(const mount::Prefetch::Plan& plan) {
  for (const uint64_t ino : plan.lists) {
    parts_.requests.AskList(
        ino, [this](int) { Follow(parts_.prefetch.Listed(MostBytesAhead())); }, true);
  }
  for (size_t at = 0; at < plan.files.size(); at += kMostFilesOfMessage) {
    const size_t end = std::min(plan.files.size(), at + kMostFilesOfMessage);
    Fetch({plan.files.begin() + static_cast<ptrdiff_t>(at), plan.files.begin() + static_cast<ptrdiff_t>(end)});
  }
}

void Prefetcher::Fetch(const std::vector<uint64_t>& files) {
  // Their paths must stay in place.
  std::deque<std::string> paths;
  mount::message::Fetch wanted;
  const auto open = std::make_shared<std::vector<std::shared_ptr<Content>>>();
  const auto asked = std::make_shared<std::vector<uint64_t>>();
  // A cached file is not fetched, but the other peer is still asked whether the version is current.
  const auto look = [this](uint64_t ino) {
    parts_.requests.AskLook(ino, [this, ino](int error) {
      if (error == 0) parts_.vouched.Add(ino);
    });
  };
  for (const uint64_t ino : files) {
    Found found;
    std::string path;
    InodeTable::Doubt doubt;
    // If the entry is in doubt, request the last known version. If it has changed there, no blocks arrive.
    if (parts_.inodes.Look(ino, true, &found) != InodeTable::Known::kYes || !parts_.inodes.Ask(ino, &path, &doubt))
      continue;
    std::shared_ptr<Content> content;
    if (parts_.overlays.OverlayOf(ino) != nullptr) continue;
    if (parts_.contents.HasWhole(path, found.attributes)) {
      look(ino);
      continue;
    }
    if (!parts_.contents.Open(path, found.attributes, &content).ok()) continue;
    const remote::CacheFile& file = *content->file;
    if (!file.HasAll(0, file.blocks())) {
      wanted.files.push_back({content->key, file.size(), file.mtime_ns(), paths.emplace_back(std::move(path))});
      asked->push_back(ino);
    } else {
      look(ino);
    }
    parts_.contents.Used(*content, 0, file.blocks());
    open->push_back(std::move(content));
  }
  if (wanted.files.empty()) return;
  mount::DaemonLink::Answer answer;
  // They stay open until they have arrived: closed contents are not fetched.
  answer.on_done = [this, open, asked](int error, mount::Reader) {
    for (const uint64_t ino : *asked) {
      if (error == 0) parts_.vouched.Add(ino);
    }
    for (const std::shared_ptr<Content>& content : *open) parts_.contents.Grown(*content);
    open->clear();
  };
  answer.waits = false;
  parts_.link.Ask(Type::kFetch, wanted.Body(), std::move(answer));
}

void Prefetcher::AskAhead(uint64_t ino, const std::shared_ptr<Content>& content, const mount::ReadAhead::Plan& plan) {
  parts_.contents.Used(*content, plan.from, uint64_t{plan.from} + plan.count);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, content](int error, mount::Reader body) {
    if (error == 0) parts_.most_ahead = std::max<uint32_t>(mount::message::WantAnswer::Parse(body).ahead_blocks, 1);
    parts_.contents.Grown(*content);
  };
  answer.waits = false;
  parts_.link.Ask(Type::kWant, WantOf(ino, *content, plan.from, 0, plan.count), std::move(answer));
}

// Call before the first request at the new position. Blocks that a reader waits for still arrive.
void Prefetcher::LeaveAhead(const Content& content) {
  parts_.link.Notify(Type::kLeave, mount::message::Leave{content.key}.Body());
}

mount::Writer Prefetcher::WantOf(uint64_t ino, const Content& content, uint32_t first, uint32_t count,
                                 uint32_t ahead) const {
  // The file may have been renamed.
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) path = content.path;
  return mount::message::Want{content.key, content.file->size(), content.file->mtime_ns(), first, count, ahead, path}
      .Body();
}

// An unlinked file stays readable for open handles, but cannot be fetched any more. Call while it is held.
void Prefetcher::FetchForOpen(uint64_t ino, const std::string& path, Then then) {
  constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  Found found;
  if (ino == 0 || !parts_.write_back.IsOpen(ino) || parts_.inodes.Look(ino, true, &found) != InodeTable::Known::kYes ||
      found.attributes.type != EntryType::kFile) {
    return then(0);
  }
  const std::shared_ptr<mount::OverlayFile> overlay = parts_.overlays.OverlayOf(ino);
  if (overlay != nullptr) {
    found.attributes.size = overlay->base().size;
    found.attributes.mtime_ns = overlay->base().mtime_ns;
  }
  std::shared_ptr<Content> content;
  if (found.attributes.size == 0 || found.attributes.size > kMostBytes ||
      !parts_.contents.Open(path, found.attributes, &content).ok()) {
    return then(0);
  }
  const uint32_t blocks = content->file->blocks();
  content->kept = true;
  const bool whole = content->file->HasAll(0, blocks);
  if (overlay != nullptr) {
    overlay->AddContent(overlay->base(), std::shared_ptr<remote::CacheFile>(content, content->file.get()));
  }
  if (whole) return then(0);
  mount::DaemonLink::Answer answer;
  answer.on_done = [content, then = std::move(then)](int, mount::Reader) { then(0); };
  parts_.link.Ask(Type::kWant, WantOf(ino, *content, 0, blocks, 0), std::move(answer));
}

}  // namespace keibi::fuse
