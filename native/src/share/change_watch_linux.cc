// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/fd.h"
#include "core/poller.h"
#include "disk/beneath.h"
#include "manifest/entry.h"
#include "platform/owned_dir.h"
#include "share/change_watch.h"

namespace keibi::share {
namespace {

using core::Code;
using core::Status;

constexpr uint32_t kMask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE |
                           IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT;
constexpr uint32_t kRootMask = kMask | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr int kNoParent = -1;

bool IsReported(std::string_view name) {
  return manifest::IsAcceptableName(name) && !name.starts_with(manifest::kStagingName);
}

bool IsDirectory(int directory, const dirent& child) {
  if (child.d_type != DT_UNKNOWN) return child.d_type == DT_DIR;
  struct stat status;
  return fstatat(directory, child.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

// inotify(7) watches single directories by number; this keeps their tree.
class ChangeWatch::Thread {
 public:
  Thread(std::string folder, ChangeNotes* notes) : folder_(std::move(folder)), notes_(notes) {
    const Status status = Open();
    if (status.ok()) {
      thread_ = std::thread([this] { Run(); });
    } else {
      notes_->Trouble(status);
    }
  }

  void Stop() {
    stopped_.store(true);
    poller_.Wake();
    if (thread_.joinable()) thread_.join();
  }

 private:
  // A watched directory. Other nodes refer to it by its number.
  struct Node {
    int parent = kNoParent;
    std::string name;
    std::map<std::string, int, std::less<>> children;
  };

  // Constructor.
  Status Open() {
    core::Fd top;
    if (const Status status = disk::OpenFolder(folder_, &top); !status.ok()) return status;
    if (const Status status = poller_.Open(); !status.ok()) return status;
    events_ = core::Fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!events_.valid() || !poller_.Add(events_.get(), 0)) return Status::FromErrno(Code::kInternal);
    return Status::Ok();
  }

  // Everything below runs on the thread.
  void Run() {
    AddTree("", kNoParent, "");
    notes_->Watching();
    std::vector<uint64_t> ready;
    while (!stopped_.load()) {
      ReadEvents();
      if (!stopped_.load()) poller_.Wait(/*timeout_ms=*/-1, &ready);
    }
  }

  void ReadEvents() {
    alignas(inotify_event) char buffer[64 << 10];
    while (!stopped_.load()) {
      const ssize_t got = read(events_.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      for (ssize_t at = 0; at < got;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        TakeEvent(*event);
      }
    }
  }

  void TakeEvent(const inotify_event& event) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) return LookAgain();
    const auto found = nodes_.find(event.wd);
    if (found == nodes_.end()) return;  // of a directory that was moved away since
    if ((event.mask & IN_IGNORED) != 0) return Forget(event.wd);
    // About the directory itself; a watched parent reports the same event.
    if ((event.mask & kGone) != 0 && found->second.parent == kNoParent)
      notes_->Trouble(Status::Of(Code::kSourceMissing));
    if (event.len == 0) return;
    const std::string name = event.name;
    if (!IsReported(name)) return;
    const bool directory = (event.mask & IN_ISDIR) != 0;
    const std::string path = PathOf(event.wd, name);
    if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
      // Watched before it is reported, so a reader that then looks misses no later change.
      if (directory) AddTree(path, event.wd, name);
      notes_->Note((event.mask & IN_CREATE) != 0 ? ChangeKind::kCreated : ChangeKind::kReplaced, path);
    } else if ((event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
      if (directory) DropTree(event.wd, name);
      notes_->Note(ChangeKind::kRemoved, path);
    } else {
      notes_->Note(ChangeKind::kChanged, path);
    }
  }

  // The kernel's queue overflowed: there may be new directories that are not watched.
  void LookAgain() {
    AddTree("", kNoParent, "");
    notes_->Miss();
  }

  // Watches a directory and everything below it. Harmless for directories already watched.
  void AddTree(const std::string& path, int parent, const std::string& name) {
    struct Place {
      std::string path, name;
      int parent;
    };
    // Not kept open: the kernel reports a folder's end only when no descriptor is left.
    core::Fd top;
    if (!disk::OpenFolder(folder_, &top).ok()) return;
    std::vector<Place> places{{path, name, parent}};
    while (!places.empty() && !stopped_.load()) {
      const Place place = std::move(places.back());
      places.pop_back();
      core::Fd fd;
      if (!disk::OpenBeneath(top.get(), place.path, O_RDONLY | O_DIRECTORY, &fd).ok()) continue;  // gone, or unreadable
      const int number = Watch(fd.get(), place.parent, place.name);
      platform::OwnedDir listing(number < 0 ? nullptr : fdopendir(fd.get()));
      if (!listing) continue;
      fd.release();
      while (const dirent* const child = readdir(listing.get())) {
        const std::string_view found = child->d_name;
        if (found == "." || found == ".." || !IsReported(found) || !IsDirectory(dirfd(listing.get()), *child)) continue;
        places.push_back(
            {place.path.empty() ? std::string(found) : place.path + "/" + child->d_name, std::string(found), number});
      }
    }
  }

  // By descriptor, because the path may lead elsewhere by now. Negative if it cannot be watched.
  int Watch(int fd, int parent, const std::string& name) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const int number = inotify_add_watch(events_.get(), link.c_str(), parent == kNoParent ? kRootMask : kMask);
    if (number < 0) {
      notes_->Trouble(Status::FromErrno(errno == ENOSPC ? Code::kLimitExceeded : Code::kSourceUnreadable));
      return number;
    }
    Node& node = nodes_[number];
    if (node.parent != parent || node.name != name) Unlink(number, node);
    node.parent = parent;
    node.name = name;
    if (parent != kNoParent) nodes_[parent].children[name] = number;
    return number;
  }

  void DropTree(int parent, const std::string& name) {
    const auto& children = nodes_[parent].children;
    const auto child = children.find(name);
    if (child == children.end()) return;
    std::vector<int> left{child->second};
    while (!left.empty()) {
      const int number = left.back();
      left.pop_back();
      const auto found = nodes_.find(number);
      if (found == nodes_.end()) continue;
      for (const auto& [_, below] : found->second.children) left.push_back(below);
      inotify_rm_watch(events_.get(), number);
      Forget(number);
    }
  }

  void Forget(int number) {
    const auto found = nodes_.find(number);
    if (found == nodes_.end()) return;
    Unlink(number, found->second);
    nodes_.erase(found);
  }

  void Unlink(int number, const Node& node) {
    const auto parent = nodes_.find(node.parent);
    if (parent == nodes_.end()) return;
    const auto entry = parent->second.children.find(node.name);
    if (entry != parent->second.children.end() && entry->second == number) parent->second.children.erase(entry);
  }

  std::string PathOf(int number, const std::string& name) const {
    std::string path = name;
    for (auto at = nodes_.find(number); at != nodes_.end() && at->second.parent != kNoParent;
         at = nodes_.find(at->second.parent)) {
      path.insert(0, at->second.name + "/");
    }
    return path;
  }

  const std::string folder_;
  ChangeNotes* const notes_;
  core::Fd events_;
  core::Poller poller_;
  std::unordered_map<int, Node> nodes_;
  std::atomic<bool> stopped_ = false;

  std::thread thread_;
};

ChangeWatch::ChangeWatch(std::string folder, core::Wake wake)
    : notes_(std::move(wake)), thread_(std::make_unique<Thread>(std::move(folder), &notes_)) {}

ChangeWatch::~ChangeWatch() = default;

void ChangeWatch::Stop() { thread_->Stop(); }

}  // namespace keibi::share
