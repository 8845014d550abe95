// SPDX-License-Identifier: MPL-2.0
#include "fuse/overlays.h"

#include <cerrno>
#include <ctime>
#include <utility>

#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using manifest::EntryType;
using mount::Found;
using mount::InodeTable;
using mount::OverlayFile;

// Size up to which a written file is fetched in the background.
constexpr uint64_t kMostFetchedBytes = mount::rules::kWholeWriteBytes;
constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace

int64_t Overlays::Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

std::shared_ptr<OverlayFile> Overlays::OverlayOf(uint64_t ino) {
  std::shared_ptr<OverlayFile> overlay = parts_.write_back.Find(ino);
  if (overlay == nullptr || overlay->NeedsPut(false)) return overlay;
  // Everything was sent, and another peer has changed the file since: the overlay is out of date.
  Found found;
  if (parts_.inodes.Look(ino, true, &found) != InodeTable::Known::kYes || found.gone) return overlay;
  if (overlay->base() == disk::FileVersion{found.attributes.size, found.attributes.mtime_ns}) return overlay;
  if (overlay->NeedsPut(false)) return overlay;
  parts_.write_back.Drop(ino, overlay);
  return parts_.write_back.Find(ino);
}

int Overlays::MakeOverlay(uint64_t ino, bool bare, std::shared_ptr<OverlayFile>* overlay) {
  *overlay = OverlayOf(ino);
  if (*overlay != nullptr) return 0;
  Found found;
  if (parts_.inodes.Look(ino, true, &found) != InodeTable::Known::kYes) return ESTALE;
  if (found.attributes.type != EntryType::kFile)
    return found.attributes.type == EntryType::kDirectory ? EISDIR : EINVAL;
  std::shared_ptr<remote::CacheFile> file;
  std::string path;
  InodeTable::Doubt doubt;
  // Reuse what is already cached of it.
  if (!bare && found.attributes.size > 0 && parts_.inodes.Ask(ino, &path, &doubt)) {
    std::shared_ptr<Content> content;
    if (parts_.contents.Open(path, found.attributes, &content).ok()) {
      content->kept = true;
      file = {content, content->file.get()};
    }
    // If another peer changes it too, our conflict copy must be whole.
    const bool small = found.attributes.size <= kMostFetchedBytes;
    if (file != nullptr && small && !file->HasAll(0, file->blocks()))
      parts_.prefetcher.AskAhead(ino, content, {0, file->blocks()});
  }
  return parts_.write_back.Make(ino, {found.attributes.size, found.attributes.mtime_ns}, std::move(file), overlay);
}

}  // namespace keibi::fuse
