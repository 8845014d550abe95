// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "fuse/lowlevel.h"

namespace keibi::fuse {

// Shorter files are in the kernel's page cache after their first read, and cost less to open so.
inline constexpr uint64_t kLeastPassedBytes = uint64_t{1} << 20;

// FUSE passthrough: the kernel reads a file that is complete from the cache's file itself, without a request to us.
// Linux 6.9 and CAP_SYS_ADMIN; where either is missing every open is kCached. The kernel demands that all who have one
// inode open by it have the same file behind it, and that nobody has it open in the usual way. Any thread.
class Passing {
 public:
  enum class How { kCached, kPassed, kDirect };

  // Between mounting and the first request; keeps the pointer. `passes`: files may be passed, as none is written.
  void Attach(fuse_session* session, bool passes);

  // Somebody opens `key`, a version of `ino`, for reading alone, with `fd` its cached file. `hold` is asked when it
  // would be the first of those to whom it is passed: whether it is complete, and stays so until Closed.
  How Opened(uint64_t ino, const std::string& key, int fd, const std::function<bool()>& hold);
  void Closed(uint64_t ino);
  // In place of fuse_reply_open.
  int Reply(fuse_req_t request, uint64_t ino, fuse_file_info* info, How how);

 private:
  struct Inode {
    uint32_t opens = 0;
    uint32_t backing = 0;  // the kernel's number of the file behind it; 0: none
    std::string key;
  };

  static ssize_t OnRequest(int fd, void* buffer, size_t length, void* userdata);
  static ssize_t OnReply(int fd, iovec* parts, int count, void* userdata);

  fuse_session* session_ = nullptr;
  std::atomic<bool> possible_ = false;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Inode> inodes_;
};

}  // namespace keibi::fuse
