// SPDX-License-Identifier: MPL-2.0
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuse/server.h"

// Prefetching of small files and listings.
namespace keibi::fuse {
namespace {

using mount::Found;
using mount::InodeTable;
using mount::Type;

constexpr size_t kMostFilesOfMessage = 64;

}  // namespace

uint64_t Server::MostBytesAhead() const { return uint64_t{most_ahead_} * stream::kCacheBlockBytes; }

void Server::WalkOn(uint64_t ino, bool directory) { Follow(prefetch_.Opened(ino, directory, MostBytesAhead())); }

void Server::Follow(const mount::Prefetch::Plan& plan) {
  for (const uint64_t ino : plan.lists) {
    AskList(
        ino, [this](int) { Follow(prefetch_.Listed(MostBytesAhead())); }, true);
  }
  for (size_t at = 0; at < plan.files.size(); at += kMostFilesOfMessage) {
    const size_t end = std::min(plan.files.size(), at + kMostFilesOfMessage);
    Fetch({plan.files.begin() + static_cast<ptrdiff_t>(at), plan.files.begin() + static_cast<ptrdiff_t>(end)});
  }
}

void Server::Fetch(const std::vector<uint64_t>& files) {
  // Their paths must stay in place.
  std::deque<std::string> paths;
  mount::message::Fetch wanted;
  const auto open = std::make_shared<std::vector<std::shared_ptr<Content>>>();
  const auto asked = std::make_shared<std::vector<uint64_t>>();
  // A cached file is not fetched, but the other peer is still asked whether the version is current.
  const auto look = [this](uint64_t ino) {
    AskLook(ino, [this, ino](int error) {
      if (error == 0) vouched_.Add(ino);
    });
  };
  for (const uint64_t ino : files) {
    Found found;
    std::string path;
    InodeTable::Doubt doubt;
    // If the entry is in doubt, request the last known version. If it has changed there, no blocks arrive.
    if (inodes_.Look(ino, true, &found) != InodeTable::Known::kYes || !inodes_.Ask(ino, &path, &doubt)) continue;
    std::shared_ptr<Content> content;
    if (OverlayOf(ino) != nullptr) continue;
    if (contents_.HasWhole(path, found.attributes)) {
      look(ino);
      continue;
    }
    if (!contents_.Open(path, found.attributes, &content).ok()) continue;
    const stream::CacheFile& file = *content->file;
    if (!file.HasAll(0, file.blocks())) {
      wanted.files.push_back({content->key, file.size(), file.mtime_ns(), paths.emplace_back(std::move(path))});
      asked->push_back(ino);
    } else {
      look(ino);
    }
    contents_.Used(*content, 0, file.blocks());
    open->push_back(std::move(content));
  }
  if (wanted.files.empty()) return;
  mount::DaemonLink::Answer answer;
  // They stay open until they have arrived: closed contents are not fetched.
  answer.on_done = [this, open, asked](int error, mount::Reader) {
    for (const uint64_t ino : *asked) {
      if (error == 0) vouched_.Add(ino);
    }
    for (const std::shared_ptr<Content>& content : *open) contents_.Grown(*content);
    open->clear();
  };
  answer.waits = false;
  link_.Ask(Type::kFetch, wanted.Body(), std::move(answer));
}

}  // namespace keibi::fuse
