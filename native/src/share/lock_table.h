// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "core/status.h"
#include "platform/lock_ranges.h"
#include "share/served_files.h"

namespace keibi::share {

// Counts of the locks of all guests of one share.
struct LockRoom {
  std::atomic<size_t> files{0}, ranges{0};
  std::atomic<uint64_t> refused{0};  // locks beyond a limit
};

// A program of a guest, identified by its system. `whole`: it locks by flock(2), otherwise by fcntl(2).
struct LockOwner {
  std::array<uint8_t, 8> id{};
  bool whole = false;
  bool operator==(const LockOwner&) const = default;
};

struct WantedLock {
  LockOwner owner;
  platform::LockSpan span;
  platform::LockKind kind = platform::LockKind::kShared;
};

struct GrantedLock {
  uint32_t holder = 0;         // for Unlock; 0: the owner has no lock on the file
  std::vector<uint8_t> entry;  // the file under the lock, as in a manifest; empty: another owner's lock conflicts
};

// The locks of one guest, across its sessions (PROTOCOL 11.3). Each program of the guest has its own open file here, so
// the programs exclude each other and the programs of this computer. Any thread; may block as long as a disk does.
class LockTable {
 public:
  using Inode = std::pair<dev_t, ino_t>;
  static constexpr size_t kMostFiles = 256, kMostRanges = 4096;
  static constexpr size_t kMostFilesOfShare = 1024, kMostRangesOfShare = 16384;

  // While a Pause lives, no lock of the guest changes. `others`: the parts of a file that the guest has not locked.
  // `is_shared`: another owner has a read lock where the guest has one.
  class Pause {
   public:
    Pause() : others_{platform::LockSpan{}} {}
    Pause(std::unique_lock<std::mutex> lock, std::vector<platform::LockSpan> others, bool is_shared)
        : lock_(std::move(lock)), others_(std::move(others)), is_shared_(is_shared) {}
    const std::vector<platform::LockSpan>& others() const { return others_; }
    bool is_shared() const { return is_shared_; }

   private:
    std::unique_lock<std::mutex> lock_;
    std::vector<platform::LockSpan> others_;
    bool is_shared_ = false;
  };

  LockTable(ServedFolder folder, std::shared_ptr<LockRoom> room);
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;
  ~LockTable() { Close(); }

  // kCallFailed with the errno: ENOLCK beyond a limit. kSourceMissing, kPathRefused; kCancelled after Close.
  core::Status Lock(std::string_view path, const WantedLock& wanted, GrantedLock* granted);
  // Returns whether the holder has other locks on the file.
  bool Unlock(uint32_t holder, const platform::LockSpan& span);
  // Finds another owner's lock that conflicts with this one.
  core::Status Test(std::string_view path, const WantedLock& wanted, std::optional<platform::LockRanges::Range>* found);
  // Releases every lock and refuses new ones. Idempotent.
  void Close();

  Pause PauseFor(const Inode& inode);

 private:
  struct Holder {
    LockOwner owner;
    Inode inode;
    core::Fd file;
    platform::LockRanges ranges;
  };

  core::Status Open(std::string_view path, core::Fd* file, Inode* inode, core::Fd* directory) const;
  // How old a change must be so that the next change is sure to get another mtime.
  int64_t TickOf(dev_t disk, int directory);
  std::map<uint32_t, Holder>::iterator Find(const LockOwner& owner, const Inode& inode);
  int Apply(Holder* holder, const platform::LockSpan& span, platform::LockKind kind);
  void EraseIfFree(std::map<uint32_t, Holder>::iterator holder);

  const ServedFolder folder_;
  const std::shared_ptr<LockRoom> room_;
  std::mutex mutex_;
  std::map<uint32_t, Holder> holders_;
  std::map<dev_t, int64_t> ticks_;
  uint32_t last_;
  size_t ranges_ = 0;
  bool closed_ = false;
};

}  // namespace keibi::share
