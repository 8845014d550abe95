// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/fd.h"
#include "fuse/mounted_folder.h"

extern char** environ;

namespace keibi::fuse {
namespace {

// For a program that reads the first 64 KiB of a file in pieces of 8 KiB the kernel requests 224 KiB; with the limit
// for long files it would request 672 KiB.
constexpr std::string_view kShortKb = "512", kLongKb = "4096";
constexpr uint64_t kLongFile = uint64_t{16} << 20;

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

// As /proc/PID/mountinfo writes it: space, tab, newline and backslash in octal digits.
std::string Escaped(const std::string& path) {
  constexpr char kDigits[] = "01234567";
  std::string escaped;
  for (const char c : path) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\\') {
      escaped += c;
      continue;
    }
    escaped += {'\\', kDigits[c >> 6 & 7], kDigits[c >> 3 & 7], kDigits[c & 7]};
  }
  return escaped;
}

// `major:minor` of the topmost mount there; empty if nothing is mounted. It does not access the folder itself: a thread
// that does so while its own process ends would wait for ever for its own answer.
std::string DeviceOf(const std::string& folder) {
  std::ifstream table("/proc/self/mountinfo");
  const std::string wanted = Escaped(folder);
  std::string found;
  for (std::string line; std::getline(table, line);) {
    std::string number, parent, device, root, place;
    std::istringstream(line) >> number >> parent >> device >> root >> place;
    if (place == wanted) found = device;
  }
  return found;
}

}  // namespace

int Unmount(const std::string& folder, bool forced) {
  if (geteuid() != 0) return RunFusermount(folder, forced);
  // With MNT_FORCE the kernel fails pending requests: our thread that notifies it of a change may be waiting for one.
  if (umount2(folder.c_str(), UMOUNT_NOFOLLOW | (forced ? MNT_DETACH | MNT_FORCE : 0)) == 0) return 0;
  return errno == EINVAL ? 0 : errno;  // EINVAL: nothing is mounted there any more
}

void KernelReadAhead::Attach(const std::string& folder) {
  const std::scoped_lock lock(mutex_);
  setting_ = core::Fd(open(("/sys/class/bdi/" + DeviceOf(folder) + "/read_ahead_kb").c_str(), O_WRONLY | O_CLOEXEC));
  is_long_ = true;
  if (setting_.valid()) (void)!pwrite(setting_.get(), kLongKb.data(), kLongKb.size(), 0);
}

void KernelReadAhead::Opening(uint64_t file_bytes) {
  const bool is_long = file_bytes >= kLongFile;
  const std::scoped_lock lock(mutex_);
  if (!setting_.valid() || is_long == is_long_) return;
  const std::string_view kb = is_long ? kLongKb : kShortKb;
  if (pwrite(setting_.get(), kb.data(), kb.size(), 0) > 0) is_long_ = is_long;
}

}  // namespace keibi::fuse
