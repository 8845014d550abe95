// SPDX-License-Identifier: MPL-2.0
#include "fuse/parts.h"

#include <memory>
#include <utility>

#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using mount::InodeTable;
using mount::Type;

// Until the daemon has reported how much the path carries.
constexpr uint32_t kFirstMostAhead = mount::rules::kFirstAheadBlocks;

}  // namespace

Parts::Parts(Options given, int daemon, int cache)
    : options(std::move(given)),
      link(daemon, options.patience),
      contents(cache, options.cache_bytes,
               [this](const std::string& key) { link.Notify(Type::kRelease, mount::message::Release{key}.Body()); }),
      block_waiter(cache),
      requests(this),
      prefetcher(this),
      overlays(this),
      write_back({cache, options.patience, options.label, options.cache_bytes}, &inodes, &link,
                 {[this](InodeTable::Invalidations announced) { notifier.Notify(std::move(announced)); },
                  [this](uint64_t ino) { requests.Verify(ino); },
                  [this](uint64_t ino, const std::string& path, const std::shared_ptr<mount::OverlayFile>& overlay) {
                    contents.Adopt(ino, path, overlay);
                  }}),
      locking({&inodes, &link, &write_back, &notifier, &pending_requests,
               [this](uint64_t ino, Then then) { requests.AskLook(ino, std::move(then)); }}),
      prefetch(inodes.walk()),
      most_ahead(kFirstMostAhead) {}

}  // namespace keibi::fuse
