// SPDX-License-Identifier: MPL-2.0

// keibidrop-mount FOLDER NAME PATIENCE_MS CACHE_BYTES [LABEL [locks]]: shows a shared folder until the daemon ends.
// With LABEL, the name of this side, the folder is writable; with `locks` its locks are taken at the other peer.
// Descriptor 3 is one end of a socket pair, 4 the directory of the cache. Only packages/mount starts it.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "fuse/library.h"
#include "fuse/server.h"

namespace {

constexpr int kLink = 3;
constexpr int kCache = 4;
constexpr int kUsage = 2;

// An earlier host that was asked to end may still be running.
constexpr int kLockTries = 40;
constexpr useconds_t kLockPauseMicros = 50'000;
constexpr int kCacheInUse = 6;
constexpr int kNoLibrary = 7;

// Until this process ends, no other host evicts from the cache.
bool LockCache() {
  for (int tries = 0; tries < kLockTries; tries++) {
    if (flock(kCache, LOCK_EX | LOCK_NB) == 0) return true;
    usleep(kLockPauseMicros);
  }
  return false;
}

// Acts as if the daemon had closed the link; everything else follows from that.
void OnTerminate(int) { shutdown(kLink, SHUT_RDWR); }

}  // namespace

int main(int count, char** words) {
  if (!keibi::fuse::LoadLibrary()) {
    std::fputs("libfuse3 is missing\n", stderr);
    return kNoLibrary;
  }
  const bool locks = count == 7;
  const bool writable = count == 6 || locks;
  const long patience_ms = count == 5 || writable ? std::strtol(words[3], nullptr, 10) : 0;
  if (patience_ms <= 0) {
    std::fputs("usage: keibidrop-mount FOLDER NAME PATIENCE_MS CACHE_BYTES [LABEL [locks]]\n", stderr);
    return kUsage;
  }
  for (const int fd : {kLink, kCache}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  // Ctrl-C is for the parent process, which closes the link if it ends.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, OnTerminate);
  // Each overlay takes a few descriptors.
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  if (!LockCache()) {
    std::fputs("another mount uses this cache\n", stderr);
    return kCacheInUse;
  }
  keibi::fuse::Options options;
  options.folder = words[1];
  options.name = words[2];
  options.patience = std::chrono::milliseconds(patience_ms);
  options.cache_bytes = std::strtoull(words[4], nullptr, 10);
  options.writable = writable;
  if (writable) options.label = words[5];
  options.locks = locks;
  keibi::fuse::Server* const server = new keibi::fuse::Server(std::move(options), kLink, kCache);
  // The host's threads use it until the process exits, so it is never freed.
  const int code = server->Run();
  std::fflush(nullptr);
  _exit(code);
}
