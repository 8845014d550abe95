// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/fd.h"
#include "fuse/mounted_folder.h"

extern char** environ;

namespace keibi::fuse {
namespace {

constexpr char kReadAheadKb[] = "4096";

int RunFusermount(const std::string& folder, bool forced) {
  std::vector<std::string> words{"fusermount3", "-u", "-q"};
  if (forced) words.emplace_back("-z");
  words.emplace_back("--");
  words.push_back(folder);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child;
  if (const int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ); error != 0)
    return error;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EBUSY;
}

}  // namespace

int Unmount(const std::string& folder, bool forced) {
  if (geteuid() != 0) return RunFusermount(folder, forced);
  if (umount2(folder.c_str(), UMOUNT_NOFOLLOW | (forced ? MNT_DETACH : 0)) == 0) return 0;
  return errno == EINVAL ? 0 : errno;  // EINVAL: nothing is mounted there any more
}

void RaiseReadAhead(const std::string& folder) {
  struct stat own;
  if (stat(folder.c_str(), &own) != 0) return;
  const std::string device = std::to_string(major(own.st_dev)) + ":" + std::to_string(minor(own.st_dev));
  const core::Fd file(open(("/sys/class/bdi/" + device + "/read_ahead_kb").c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid()) (void)!write(file.get(), kReadAheadKb, sizeof kReadAheadKb - 1);
}

}  // namespace keibi::fuse
