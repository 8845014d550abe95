// SPDX-License-Identifier: MPL-2.0
#include "send/unsendable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.h"
#include "platform/owned_dir.h"

namespace keibi::send {
namespace {

constexpr size_t kMostNamed = 5;

mode_t TypeOf(int directory, const dirent& child) {
  if (child.d_type == DT_DIR) return S_IFDIR;
  if (child.d_type == DT_LNK) return S_IFLNK;
  if (child.d_type != DT_UNKNOWN) return S_IFREG;
  struct stat status {};
  (void)fstatat(directory, child.d_name, &status, AT_SYMLINK_NOFOLLOW);
  return status.st_mode & S_IFMT;
}

bool HasSendableTarget(int directory, const char* name) {
  char target[core::kMaxTargetBytes + 1];
  const ssize_t length = readlinkat(directory, name, target, sizeof target);
  // An unreadable target is another problem, which the walk reports.
  if (length < 0) return true;
  return static_cast<size_t>(length) <= core::kMaxTargetBytes &&
         manifest::IsUtf8({target, static_cast<size_t>(length)});
}

}  // namespace

Unsendable FindUnsendable(const Root& root) {
  Unsendable found;
  core::Fd top;
  if (!OpenRoot(root, O_RDONLY | O_DIRECTORY, &top).ok()) return found;
  uint32_t looked_at = 0;
  std::vector<std::string> pending{"."};
  while (!pending.empty() && looked_at < core::kMaxEntries) {
    const std::string folder = std::move(pending.back());
    pending.pop_back();
    const int fd = openat(top.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const platform::OwnedDir directory(fd < 0 ? nullptr : fdopendir(fd));
    if (!directory) continue;
    while (const dirent* child = readdir(directory.get())) {
      const std::string_view name = child->d_name;
      if (name == "." || name == "..") continue;
      looked_at++;
      const mode_t type = TypeOf(fd, *child);
      std::string path = folder + "/";
      path += name;
      if (!manifest::IsAcceptableName(name) || (type == S_IFLNK && !HasSendableTarget(fd, child->d_name))) {
        found.count++;
        if (found.first.size() < kMostNamed) found.first.push_back(manifest::EscapedPath(root.name + path.substr(1)));
      } else if (type == S_IFDIR) {
        pending.push_back(std::move(path));
      }
    }
  }
  return found;
}

}  // namespace keibi::send
