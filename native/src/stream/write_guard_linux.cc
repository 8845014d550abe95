// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "stream/write_guard.h"

namespace keibi::stream {
namespace {

// A program has its lock for a moment, as a rule: longer than that the put is to be made again.
constexpr int kMostLeaseTries = 10;
constexpr std::chrono::milliseconds kBetweenTries{5};

struct flock AllOf(short type) {
  struct flock all {};
  all.l_type = type;
  all.l_whence = SEEK_SET;
  return all;
}

}  // namespace

WriteGuard::WriteGuard(int fd) : fd_(fd) {
  struct flock all = AllOf(F_WRLCK);
  for (int tries = 0; !locked_; tries++) {
    locked_ = fcntl(fd_, F_OFD_SETLK, &all) == 0;
    if (locked_ || (errno != EAGAIN && errno != EACCES)) break;
    locked_out_ = tries == kMostLeaseTries;
    if (locked_out_) return;
    std::this_thread::sleep_for(kBetweenTries);
  }
  // The kernel signals the lease holder when another program wants the file. SIGURG does nothing by default, and the
  // guard ends in a moment either way.
  alone_ = fcntl(fd_, F_SETSIG, SIGURG) == 0 && fcntl(fd_, F_SETLEASE, F_WRLCK) == 0;
}

WriteGuard::~WriteGuard() {
  if (alone_) fcntl(fd_, F_SETLEASE, F_UNLCK);
  struct flock all = AllOf(F_UNLCK);
  if (locked_) fcntl(fd_, F_OFD_SETLK, &all);
}

bool WriteGuard::IsLocked(int fd) {
  struct flock all = AllOf(F_WRLCK);
  return fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

}  // namespace keibi::stream
