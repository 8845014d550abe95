// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "mount/daemon_link.h"
#include "mount/deferred_calls.h"
#include "mount/dirty_limit.h"
#include "mount/inode_table.h"
#include "mount/overlay_file.h"
#include "mount/put_waiters.h"
#include "mount/unsynced_files.h"
#include "mount/uploader.h"

namespace keibi::mount {

// The overlays of a mount, and when each is uploaded to the other peer. Several files upload at once, one put per file.
// A put starts soon after close, on request, or when the overlay is large or old. Failed puts are retried. Any thread;
// callbacks come from the link's thread, or that of this object, with no lock held. `mutex_` guards the files and the
// schedule; the locks of the limit, the unsynced files, the overlays and the inode table may be taken within it.
class WriteBack {
 public:
  // Counts as an open file: the overlay stays even if the last handle closes meanwhile.
  class Use {
   public:
    Use(WriteBack* write_back, uint64_t ino) : write_back_(write_back), ino_(ino) { write_back_->Opened(ino_); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { write_back_->Closed(ino_); }

   private:
    WriteBack* const write_back_;
    const uint64_t ino_;
  };

  using Then = PutWaiters::Then;
  using Time = PutWaiters::Time;
  using For = PutWaiters::For;
  struct Options {
    int directory = -1;  // the cache
    std::chrono::milliseconds patience{30'000};
    std::string label;             // of this side, in the names of conflict copies
    uint64_t most_kept_bytes = 0;  // the limit of disk bytes kept for the put part of one file
    uint64_t most_dirty_bytes = uint64_t{256} << 20;
  };
  struct Outside {
    std::function<void(InodeTable::Invalidations)> invalidate;
    std::function<void(uint64_t ino)> look;
    // The overlay of this version of `path` is not needed any more.
    std::function<void(uint64_t ino, const std::string& path, const std::shared_ptr<OverlayFile>& overlay)> settled;
  };

  WriteBack(Options options, InodeTable* inodes, DaemonLink* link, Outside outside);
  ~WriteBack();

  // An open file of the kernel.
  void Opened(uint64_t ino);
  void Closed(uint64_t ino);

  bool IsOpen(uint64_t ino);

  std::shared_ptr<OverlayFile> Find(uint64_t ino);
  // Takes the existing overlay, or makes one. Returns an errno, or 0.
  int Make(uint64_t ino, const FileVersion& base, std::shared_ptr<remote::CacheFile> content,
           std::shared_ptr<OverlayFile>* overlay);
  // The overlay has nothing unsent, and the file there has changed: discard it.
  void Drop(uint64_t ino, const std::shared_ptr<OverlayFile>& overlay);

  const DirtyLimit& limit() const { return limit_; }
  UnsyncedFiles& unsynced() { return unsynced_; }

  // While the limit is full: sends, and calls back when a writer may continue, or with ETIMEDOUT.
  void WhenRoom(Then then);
  // Call after each change of an overlay. False if it was dropped meanwhile: repeat the change then.
  bool Changed(uint64_t ino, const std::shared_ptr<OverlayFile>& overlay);
  void SendSoon(uint64_t ino);
  // Why the last put failed; each failure is returned once.
  int TakeError(uint64_t ino);
  // Calls back when the puts of the file have come so far; with an errno on failure, or after `most`.
  void When(uint64_t ino, For what, std::chrono::milliseconds most, Then then);
  // Calls back when the other peer has everything written so far; with an errno on failure or timeout. While the other
  // peer is away it calls back at once, and the put is sent later.
  void WhenClosed(uint64_t ino, Then then);

  // Until Release no put begins of `files`, of those below `below` if that is set, and in the latter case of any other
  // file. Calls back when no put of them is under way. Pending puts of `stopped` are ended.
  struct Held {
    std::vector<uint64_t> files;
    std::vector<uint64_t> stopped;
    std::string below;
  };
  void Hold(const Held& held, Then then);
  void Release(const Held& held);
  // The file was unlinked; keep unsent data only for open handles.
  void Gone(uint64_t ino);

  void SetAway(bool away);
  // Sends all unsent data. Returns the number of files that were not sent in time.
  size_t Drain(std::chrono::milliseconds most);
  // Leaves the overlays that were not sent in the cache, and reports each to the daemon. Returns their number.
  size_t LeaveUnsent();

 private:
  // The puts of one file, and who holds it.
  struct File {
    std::shared_ptr<OverlayFile> overlay;
    uint32_t opens = 0, holds = 0;
    bool soon = false, gone = false, pinned = false;
    bool putting = false, moving = false, stop = false;
    uint32_t request = 0;  // of the pending put; 0 until it is sent
    uint64_t most_bytes = UINT64_MAX;
    Time since, retry;
    std::chrono::milliseconds backoff{0};
    int error = 0;
    PutWaiters waiters;

    bool Busy() const { return putting || moving; }
    bool HasMany() const;
    // Whether a put should begin; `urgent`: everything unsent is wanted now.
    bool IsDue(Time now, bool urgent) const;
    void RetryLater();
  };

  // Call all of these with mutex_ held, but Send, PutEnded, Moved and Run, which take it.
  File* FileOf(uint64_t ino);
  void Pump(DeferredCalls* calls);
  void Begin(uint64_t ino, File* file, DeferredCalls* calls);
  void Settle(uint64_t ino, DeferredCalls* calls);
  void AddWaiter(uint64_t ino, For what, Time until, Then then, uint64_t changes, DeferredCalls* calls);
  void Unpin(uint64_t ino, File* file, DeferredCalls* calls);
  void Send(const Upload& upload);
  void PutEnded(const Upload& upload, int error);
  void Moved(const Upload& upload, int error);
  void Run();

  const Options options_;
  InodeTable* const inodes_;
  const Outside outside_;
  DirtyLimit limit_;
  UnsyncedFiles unsynced_;
  Uploader uploader_;

  std::mutex mutex_;
  std::condition_variable changed_, sent_;
  std::unordered_map<uint64_t, File> files_;
  std::set<uint64_t> ready_;
  std::deque<std::function<void()>> jobs_;
  uint32_t running_ = 0, all_held_ = 0;
  bool away_ = false, draining_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace keibi::mount
