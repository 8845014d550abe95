// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fuse/lowlevel.h"
#include "mount/daemon_link.h"
#include "mount/inode_table.h"

namespace keibi::fuse {

struct Parts;

// The answer to a request while the other peer is away: use the known part, and request the rest again.
inline constexpr int kPeerAway = EAGAIN;

using Then = std::function<void(int error)>;

// Requests to the daemon, and the kernel's requests that wait for their answers. Any thread; callbacks come from the
// link's thread.
class DaemonRequests {
 public:
  explicit DaemonRequests(Parts* parts) : parts_(*parts) {}

  // Requests what `ask` asks for. `work` continues the kernel's request once it has come, unless it was cancelled.
  void Later(fuse_req_t request, std::function<void(fuse_req_t, int error)> work, const std::function<void(Then)>& ask);
  // Sends a request about `ino`; `then` runs on the link's thread once the inode table has the answer.
  void AskList(uint64_t ino, Then then, bool ahead = false);
  void AskLook(uint64_t ino, Then then);
  // Looks at a file that a notice may have been about.
  void Verify(uint64_t ino);
  // The answer to a request that brings one entry, or only an errno. `rest`: the fields of the answer beside the entry.
  mount::DaemonLink::Answer EntryAnswer(
      std::function<void(int error, const manifest::Entry& entry, mount::Reader rest)> then);
  // Requests whose answers go to the kernel: an errno alone, or the value of an extended attribute.
  void AskPlainly(fuse_req_t request, mount::Type type, const mount::Writer& body);
  void AskValue(fuse_req_t request, mount::Type type, const mount::Writer& body, size_t size);

 private:
  struct Listing {
    std::vector<uint8_t> entries;
    bool too_much = false;
    bool ahead = false;  // a prefetch that no request waits for, or did when it was sent
    std::vector<Then> then;
  };

  void PutListing(uint64_t ino, mount::InodeTable::Doubt doubt, const Listing& listing, int* error);

  Parts& parts_;
  std::atomic<int> verifying_{0};
  std::mutex lists_mutex_;
  std::map<std::pair<uint64_t, mount::InodeTable::Doubt>, std::shared_ptr<Listing>> lists_;
};

}  // namespace keibi::fuse
