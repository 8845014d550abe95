// SPDX-License-Identifier: MPL-2.0
#include "fuse/daemon_requests.h"

#include <algorithm>
#include <cerrno>

#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using manifest::Entry;
using mount::Found;
using mount::InodeTable;
using mount::Type;
using mount::Writer;

// Limit of one directory; a larger one fails with EOVERFLOW.
constexpr size_t kMostListingBytes = mount::rules::kMostListingBytes;
// Limit of a listing that is prefetched.
constexpr size_t kMostListingBytesAhead = size_t{4} << 20;
constexpr size_t kMostValueBytes = 65536;  // XATTR_SIZE_MAX

}  // namespace

void DaemonRequests::Later(fuse_req_t request, std::function<void(fuse_req_t, int)> work,
                           const std::function<void(Then)>& ask) {
  const uint64_t ticket = parts_.pending_requests.Add(request);
  ask([this, ticket, work = std::move(work)](int error) {
    if (fuse_req_t taken; parts_.pending_requests.Take(ticket, &taken)) work(taken, error);
  });
}

void DaemonRequests::AskLook(uint64_t ino, Then then) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) return then(ESTALE);
  const auto bytes = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [bytes](const uint8_t* page, size_t length) { bytes->assign(page, page + length); };
  answer.on_done = [this, ino, doubt, bytes, then = std::move(then)](int error, mount::Reader) {
    if (error == kPeerAway) {
      Found found;
      return parts_.inodes.Look(ino, false, &found) == InodeTable::Known::kAsk ? AskLook(ino, then) : then(0);
    }
    if (error == ENOENT) {
      parts_.notifier.Notify(parts_.inodes.PutAbsent(ino, doubt));
      error = 0;
    } else if (error == 0) {
      manifest::Entry entry;
      size_t at = 0;
      if (manifest::ParseEntry(bytes->data(), bytes->size(), &at, &entry).ok()) {
        parts_.notifier.Notify(parts_.inodes.PutEntry(ino, doubt, entry));
      } else {
        error = EIO;
      }
    }
    then(error);
  };
  parts_.link.Ask(Type::kLook, mount::message::Look{path}.Body(), std::move(answer));
}

void DaemonRequests::AskList(uint64_t ino, Then then, bool ahead) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) return then(ESTALE);
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
    if (error == ENOENT) parts_.notifier.Notify(parts_.inodes.PutAbsent(key.first, key.second));
    std::vector<Then> all;
    {
      const std::scoped_lock lock(lists_mutex_);
      lists_.erase(key);
      all.swap(listing->then);
    }
    std::vector<mount::Line> lines;
    const bool unknown = error == kPeerAway && parts_.inodes.List(key.first, false, &lines) == InodeTable::Known::kAsk;
    // A prefetched listing has a lower limit: request it again for a caller that needs it.
    const bool again = unknown || (error == EOVERFLOW && listing->ahead);
    if (error == kPeerAway) error = 0;
    for (const Then& one : all) again ? AskList(key.first, one) : one(error);
  };
  parts_.link.Ask(Type::kList, mount::message::List{path}.Body(), std::move(answer));
}

void DaemonRequests::PutListing(uint64_t ino, InodeTable::Doubt doubt, const Listing& listing, int* error) {
  std::vector<manifest::Entry> entries;
  for (size_t at = 0; at < listing.entries.size();) {
    manifest::Entry entry;
    if (!manifest::ParseEntry(listing.entries.data(), listing.entries.size(), &at, &entry).ok()) {
      *error = EIO;
      return;
    }
    entries.push_back(entry);
  }
  *error = listing.too_much ? EOVERFLOW : 0;
  // Then the inode numbers are in name order: some programs read files in that order.
  std::sort(entries.begin(), entries.end(),
            [](const manifest::Entry& one, const manifest::Entry& other) { return one.name < other.name; });
  if (*error == 0) parts_.notifier.Notify(parts_.inodes.PutListing(ino, doubt, entries));
}

void DaemonRequests::Verify(uint64_t ino) {
  constexpr int kMostAtOnce = 256;
  if (verifying_ >= kMostAtOnce) return parts_.notifier.Notify(parts_.inodes.notices().Doubted(ino));
  verifying_++;
  AskLook(ino, [this, ino](int error) {
    verifying_--;
    if (error != 0 && error != ESTALE) parts_.notifier.Notify(parts_.inodes.notices().Doubted(ino));
  });
}

mount::DaemonLink::Answer DaemonRequests::EntryAnswer(std::function<void(int, const Entry&, mount::Reader)> then) {
  const auto page = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [page](const uint8_t* bytes, size_t length) { page->assign(bytes, bytes + length); };
  answer.on_done = [page, then = std::move(then)](int error, mount::Reader rest) {
    Entry entry;
    size_t at = 0;
    if (error == 0 && !manifest::ParseEntry(page->data(), page->size(), &at, &entry).ok()) error = EIO;
    then(error, entry, rest);
  };
  return answer;
}

void DaemonRequests::AskPlainly(fuse_req_t request, Type type, const Writer& body) {
  const uint64_t ticket = parts_.pending_requests.Add(request);
  mount::DaemonLink::Answer answer;
  answer.on_done = [this, ticket](int error, mount::Reader) {
    if (fuse_req_t later; parts_.pending_requests.Take(ticket, &later)) fuse_reply_err(later, error);
  };
  parts_.link.Ask(type, body, std::move(answer));
}

void DaemonRequests::AskValue(fuse_req_t request, Type type, const Writer& body, size_t size) {
  const uint64_t ticket = parts_.pending_requests.Add(request);
  const auto value = std::make_shared<std::vector<uint8_t>>();
  mount::DaemonLink::Answer answer;
  answer.on_page = [value](const uint8_t* bytes, size_t length) { value->assign(bytes, bytes + length); };
  answer.on_done = [this, ticket, value, size](int error, mount::Reader) {
    fuse_req_t later;
    if (!parts_.pending_requests.Take(ticket, &later)) return;
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
  parts_.link.Ask(type, body, std::move(answer));
}

}  // namespace keibi::fuse
