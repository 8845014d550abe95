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

// Shorter files are in the kernel's page cache after their first read, so a plain open is cheaper.
inline constexpr uint64_t kLeastPassedBytes = uint64_t{1} << 20;

// FUSE passthrough: the kernel reads a complete file from the cache's file itself, without a request to us. It needs
// Linux 6.9 and CAP_SYS_ADMIN; without either every open is kCached. The kernel demands that all passed opens of one
// inode use the same backing file, and that no open of it is in the usual way. Any thread.
class Passthrough {
 public:
  enum class How { kCached, kPassed, kDirect };

  // Call between mounting and the first request; keeps the pointer. `passes`: files may be passed, since none is
  // written.
  void Attach(fuse_session* session, bool passes);

  // A program opens `key`, a version of `ino`, read-only, with `fd` its cached file. For the first passed open `hold`
  // is called: it returns whether the file is complete, and stays so until Closed.
  How Opened(uint64_t ino, const std::string& key, int fd, const std::function<bool()>& hold);
  void Closed(uint64_t ino);
  // Use in place of fuse_reply_open.
  int Reply(fuse_req_t request, uint64_t ino, fuse_file_info* info, How how);

 private:
  struct Inode {
    uint32_t opens = 0;
    uint32_t backing = 0;  // the kernel's number of the backing file; 0: none
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
