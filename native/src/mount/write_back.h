// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
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
#include <unordered_set>
#include <vector>

#include "mount/draft.h"
#include "mount/link.h"
#include "mount/tree.h"

namespace keibi::mount {

// The drafts of a mount, and how they come to the other peer: several files at once, one put a file at a time, soon
// after it was closed, or when it was asked for, or has much, or is old. What failed is tried again until it is there.
// A file that another has changed meanwhile is kept beside ours, which gets a name of its own. Any thread; callbacks
// come from the link's thread, or that of this object, with no lock held.
class WriteBack {
 public:
  // As if a file were open: its draft stays, also if the last who had it open closes it meanwhile.
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

  using Then = std::function<void(int error)>;
  using Time = std::chrono::steady_clock::time_point;
  struct Options {
    int directory = -1;  // the cache
    std::chrono::milliseconds patience{30'000};
    std::string label;             // of this side, in the names of conflicts
    uint64_t most_kept_bytes = 0;  // of the disk for what was put of one file
    uint64_t most_dirty_bytes = uint64_t{256} << 20;
  };
  struct Outside {
    std::function<void(Tree::Invalidations)> told;
    std::function<void(uint64_t ino)> look;
    // Nobody needs the draft of this version of `path` any more.
    std::function<void(uint64_t ino, const std::string& path, const std::shared_ptr<Draft>& draft)> settled;
  };

  WriteBack(Options options, Tree* tree, Link* link, Outside outside);
  ~WriteBack();

  // A file of the kernel's.
  void Opened(uint64_t ino);
  void Closed(uint64_t ino);

  bool IsOpen(uint64_t ino);

  std::shared_ptr<Draft> Find(uint64_t ino);
  // Takes the one that is there, or makes one. An errno, or 0.
  int Make(uint64_t ino, const Version& base, std::shared_ptr<stream::CacheFile> content,
           std::shared_ptr<Draft>* draft);
  // It is another version there, and nothing here: the draft is of no use.
  void Drop(uint64_t ino, const std::shared_ptr<Draft>& draft);

  // Whether too much is dirty, and for who wants to write all the same: when that is over, or with ETIMEDOUT.
  bool IsFull();
  void WhenRoom(Then then);
  // To be called after each change of a draft. False if it was dropped meanwhile: then it is to be done again.
  bool Changed(uint64_t ino, const std::shared_ptr<Draft>& draft);
  void SendSoon(uint64_t ino);
  // Why the last put has failed, told once.
  int TakeError(uint64_t ino);
  // Calls back when everything is there, on its disk; with the errno why it cannot be, or ETIMEDOUT.
  void Sync(uint64_t ino, Then then);
  // Calls back when everything is there, or it takes too long, or fails: with an errno then.
  void WhenSent(uint64_t ino, std::chrono::milliseconds most, Then then);
  // Calls back when the other peer has everything written so far; with an errno on failure or timeout. While the other
  // peer is away it calls back at once, and the put is sent later.
  void WhenClosed(uint64_t ino, Then then);
  // Calls back when no put of it is under way.
  void WhenIdle(uint64_t ino, Then then);

  // No put is begun of these files, of those below `below` if that is not empty, and in the latter case of any other,
  // until Release. Calls back when none of them is under way. Of `stopped` they are ended.
  struct Held {
    std::vector<uint64_t> files;
    std::vector<uint64_t> stopped;
    std::string below;
  };
  void Hold(const Held& held, Then then);
  void Release(const Held& held);
  // Whether a file without a draft was put without reaching the disk for certain; and that nobody will ask.
  bool IsUnsynced(uint64_t ino);
  void Forget(uint64_t ino);
  // It has no name any more: what is dirty is for those alone who have it open.
  void Gone(uint64_t ino);

  void SetAway(bool away);
  // Sends what is dirty. The files that were not sent in time.
  size_t Drain(std::chrono::milliseconds most);
  uint64_t dirty_bytes() const { return dirty_; }

 private:
  enum class For { kIdle, kClosed, kSent, kSynced };
  struct Waiter {
    For what;
    Time until;
    Then then;
    uint64_t changes = 0;  // for kClosed: those that are to be there
  };
  struct File {
    std::shared_ptr<Draft> draft;
    uint32_t opens = 0, holds = 0;
    bool soon = false, gone = false, pinned = false;
    bool putting = false, moving = false, stop = false;
    uint32_t request = 0;
    uint64_t most_bytes = UINT64_MAX;
    Time since, retry;
    std::chrono::milliseconds backoff{0};
    int error = 0;
    std::vector<Waiter> waiters;

    bool Busy() const { return putting || moving; }
  };
  struct Work {
    uint64_t ino;
    std::shared_ptr<Draft> draft;
    std::string path;
    Put put;
  };
  using Calls = std::vector<std::function<void()>>;

  // All of these with mutex_ held; what they want to be called is called when it is not.
  File* FileOf(uint64_t ino);
  bool ShouldPut(const File& file, Time now) const;
  void Pump(Calls* calls);
  bool Begin(uint64_t ino, File* file, Calls* calls);
  void Look(uint64_t ino, Calls* calls);
  static void LetClose(File* file, Calls* calls);
  void FinishWaiters(File* file, int error, Calls* calls);
  void AddWaiter(uint64_t ino, Waiter waiter, Calls* calls);
  void Stop(File* file, Calls* calls);
  void LetWrite(Calls* calls);
  bool Full() const;
  bool Pin(uint64_t ino, File* file);
  void Unpin(uint64_t ino, File* file, Calls* calls);

  void Send(Work work);
  void Finish(const Work& work, int error, const std::vector<uint8_t>& entry);
  void KeepBoth(Work work, int number);
  void MakeAgain(Work work, size_t made_until);
  void MoveTo(const Work& work, const std::vector<uint8_t>& entry, const std::string& name);
  void Moved(const Work& work, int error);
  void Run();
  static void Call(Calls* calls);

  const Options options_;
  Tree* const tree_;
  Link* const link_;
  const Outside outside_;
  std::atomic<uint64_t> dirty_{0};

  std::mutex mutex_;
  std::condition_variable changed_, sent_;
  std::unordered_map<uint64_t, File> files_;
  std::unordered_set<uint64_t> unsynced_;  // files without a draft, put without reaching the disk
  std::set<uint64_t> ready_;
  std::deque<std::pair<Time, Then>> stalled_;
  std::deque<std::function<void()>> jobs_;
  uint32_t running_ = 0, all_held_ = 0, pins_ = 0;
  bool away_ = false, draining_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace keibi::mount
