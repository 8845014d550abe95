// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "core/status.h"

namespace keibi::remote {

// Lets the daemon signal a mount host that blocks have arrived in its cache files: words in a file of the cache's
// directory that both map. Notify costs a system call only while a host waits. Any thread.
class BlockSignal {
 public:
  // The host makes the file; the daemon takes an existing one. kDestinationUnusable if it cannot, or there is none.
  static core::Status Make(int directory, std::shared_ptr<BlockSignal>* signal) {
    return Open(directory, true, signal);
  }
  static core::Status Take(int directory, std::shared_ptr<BlockSignal>* signal) {
    return Open(directory, false, signal);
  }

  // False once the cache was dropped, even if it was created again.
  bool IsIn(int directory) const;

  BlockSignal(const BlockSignal&) = delete;
  BlockSignal& operator=(const BlockSignal&) = delete;
  ~BlockSignal();

  // Call when new blocks have arrived and are visible.
  void Notify();

  // From now on Notify wakes this listener: blocks that are not visible after this call will notify. Returns the value
  // for Wait.
  uint32_t Listen();
  // Waits until a Notify after `since`, for at most `most`; may return earlier.
  void Wait(uint32_t since, std::chrono::microseconds most) const;
  void Ignore();

 private:
  struct Words {
    std::atomic<uint32_t> count;
    std::atomic<uint32_t> listening;
  };

  BlockSignal(Words* words, dev_t device, ino_t inode) : words_(words), device_(device), inode_(inode) {}
  static core::Status Open(int directory, bool make, std::shared_ptr<BlockSignal>* signal);

  Words* const words_;
  const dev_t device_;
  const ino_t inode_;
};

}  // namespace keibi::remote
