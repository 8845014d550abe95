// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "core/status.h"

namespace keibi::stream {

// By which the Peer tells a mount host that blocks have come into the files of its cache: words that both map, of a
// file in the cache's directory. To ring costs a system call only while somebody waits. Any thread.
class Doorbell {
 public:
  // The host makes it, the Peer takes the one that is there: kDestinationUnusable where it cannot, or there is none.
  static core::Status Make(int directory, std::shared_ptr<Doorbell>* bell) { return Open(directory, true, bell); }
  static core::Status Take(int directory, std::shared_ptr<Doorbell>* bell) { return Open(directory, false, bell); }

  // False once the cache was dropped, and perhaps made anew.
  bool IsIn(int directory) const;

  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  ~Doorbell();

  // Something has come, and can be seen.
  void Ring();

  // From now on it is rung for us: what is not there to be seen after this rings. The value is for Wait.
  uint32_t Listen();
  // Until it was rung since, for `most` at the longest; may return before.
  void Wait(uint32_t since, std::chrono::microseconds most) const;
  void Ignore();

 private:
  struct Words {
    std::atomic<uint32_t> rung;
    std::atomic<uint32_t> listening;
  };

  Doorbell(Words* words, dev_t device, ino_t inode) : words_(words), device_(device), inode_(inode) {}
  static core::Status Open(int directory, bool make, std::shared_ptr<Doorbell>* bell);

  Words* const words_;
  const dev_t device_;
  const ino_t inode_;
};

}  // namespace keibi::stream
