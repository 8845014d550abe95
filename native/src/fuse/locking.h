// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuse/lowlevel.h"
#include "fuse/notifier.h"
#include "fuse/pending_requests.h"
#include "mount/daemon_link.h"
#include "mount/inode_table.h"
#include "mount/write_back.h"
#include "platform/lock_ranges.h"

namespace keibi::fuse {

// The locks of this computer's programs, which are taken at the other peer (PROTOCOL 11.3). Before a lock is taken or
// released, everything written is sent. Once one is taken, the kernel's knowledge of the file, and of those beside it,
// is refreshed from the other peer. Any thread; callbacks come from the link's thread, the notifier's, or this
// object's.
class Locking {
 public:
  using Then = std::function<void(int error)>;
  // A program, or with `whole` an open file that uses flock(2).
  struct Owner {
    uint64_t id = 0;
    bool whole = false;
    auto operator<=>(const Owner&) const = default;
  };
  struct Wanted {
    uint64_t ino = 0;
    Owner owner;
    platform::LockSpan span;
    platform::LockKind kind = platform::LockKind::kNone;
    bool waits = false;
  };
  struct Parts {
    mount::InodeTable* inodes;
    mount::DaemonLink* link;
    mount::WriteBack* write_back;
    Notifier* notifier;
    PendingRequests* waiting;
    // Requests a file's entry from the other peer.
    std::function<void(uint64_t ino, Then then)> look;
  };

  explicit Locking(Parts parts);
  ~Locking();

  // Takes, changes or releases a lock.
  void Set(fuse_req_t request, const Wanted& wanted);
  void Test(fuse_req_t request, const Wanted& wanted);
  // Releases all locks that the owner has on the file.
  void Drop(uint64_t ino, const Owner& owner, Then then);

  bool Has(uint64_t ino, const Owner& owner);
  // Whether a program believes to hold a lock of the file that was lost.
  bool IsLost(uint64_t ino);
  // Rises whenever a lock of the file is taken: bytes read before may be of another version.
  uint64_t Taken(uint64_t ino);
  // The other peer has released all locks.
  void Lost();

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    uint32_t holder = 0;
    platform::LockRanges ranges;
    bool lost = false;
  };
  struct File {
    std::map<Owner, Held> owners;
    uint64_t taken = 0;
  };
  struct Attempt {
    Wanted wanted;
    uint64_t ticket = 0;
    std::chrono::milliseconds pause{0};
  };

  void Ask(const Attempt& attempt);
  void Granted(const Attempt& attempt, mount::InodeTable::Doubt doubt, uint32_t holder,
               const std::vector<uint8_t>& page);
  void Refused(Attempt attempt, int error);
  void Answer(uint64_t ticket, int error);
  void GiveUp(const Wanted& wanted, Then then);
  void ReportRelease(uint32_t holder, const platform::LockSpan& span, Then then);
  // Calls back when the other peer has all that was written to the file and to those beside it.
  void WhenSent(uint64_t ino, Then then);
  mount::Writer BodyOf(const Wanted& wanted, const std::string& path) const;
  void Run();

  const Parts parts_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, File> files_;
  std::atomic<bool> any_lost_ = false;
  uint64_t takes_ = 0;

  std::condition_variable changed_;
  std::multimap<Clock::time_point, Attempt> later_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace keibi::fuse
