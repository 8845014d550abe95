// SPDX-License-Identifier: MPL-2.0
#include <CoreServices/CoreServices.h>
#include <dispatch/dispatch.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/fd.h"
#include "disk/beneath.h"
#include "manifest/entry.h"
#include "share/change_watch.h"

// Written from Apple's reference, never compiled (docs/PORTING.md).
namespace keibi::share {
namespace {

using core::Code;
using core::Status;

constexpr CFTimeInterval kLatencySeconds = 0.02;
constexpr FSEventStreamEventFlags kLost =
    kFSEventStreamEventFlagMustScanSubDirs | kFSEventStreamEventFlagUserDropped | kFSEventStreamEventFlagKernelDropped;
constexpr FSEventStreamEventFlags kNamed =
    kFSEventStreamEventFlagItemCreated | kFSEventStreamEventFlagItemRemoved | kFSEventStreamEventFlagItemRenamed;

bool IsReported(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (!manifest::IsAcceptableName(name) || name.starts_with(manifest::kStagingName)) return false;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return true;
}

}  // namespace

// FSEvents reports every change below a folder on a queue and merges changes that are close together. So this checks
// what each path is now.
class ChangeWatch::Thread {
 public:
  Thread(const std::string& folder, ChangeNotes* notes) : notes_(notes) {
    const Status status = Open(folder);
    if (status.ok()) {
      notes_->Watching();
    } else {
      notes_->Trouble(status);
    }
  }

  void Stop() {
    if (stream_ == nullptr) return;
    FSEventStreamStop(stream_);
    FSEventStreamInvalidate(stream_);
    FSEventStreamRelease(std::exchange(stream_, nullptr));
    // Waits for a callback that is already running.
    dispatch_sync_f(queue_, nullptr, [](void*) {});
    dispatch_release(queue_);
  }

 private:
  Status Open(const std::string& folder) {
    if (const Status status = disk::OpenFolder(folder, &top_); !status.ok()) return status;
    // Events carry paths without symlinks.
    char* const real = realpath(folder.c_str(), nullptr);
    if (real == nullptr) return Status::FromErrno(Code::kSourceUnreadable);
    root_ = real;
    std::free(real);
    const CFStringRef path = CFStringCreateWithFileSystemRepresentation(nullptr, root_.c_str());
    if (path == nullptr) return Status::Of(Code::kSourceUnreadable);
    const void* values[] = {path};
    const CFArrayRef paths = CFArrayCreate(nullptr, values, 1, &kCFTypeArrayCallBacks);
    FSEventStreamContext context{};
    context.info = this;
    stream_ = FSEventStreamCreate(
        nullptr, OnEvents, &context, paths, kFSEventStreamEventIdSinceNow, kLatencySeconds,
        kFSEventStreamCreateFlagFileEvents | kFSEventStreamCreateFlagNoDefer | kFSEventStreamCreateFlagWatchRoot);
    CFRelease(paths);
    CFRelease(path);
    if (stream_ == nullptr) return Status::Of(Code::kInternal);
    queue_ = dispatch_queue_create("keibidrop.changes", DISPATCH_QUEUE_SERIAL);
    FSEventStreamSetDispatchQueue(stream_, queue_);
    if (FSEventStreamStart(stream_)) return Status::Ok();
    FSEventStreamInvalidate(stream_);
    FSEventStreamRelease(std::exchange(stream_, nullptr));
    dispatch_release(queue_);
    return Status::Of(Code::kInternal);
  }

  static void OnEvents(ConstFSEventStreamRef, void* info, size_t count, void* paths,
                       const FSEventStreamEventFlags* flags, const FSEventStreamEventId*) {
    auto* const self = static_cast<Thread*>(info);
    for (size_t i = 0; i < count; i++) self->TakeEvent(static_cast<char**>(paths)[i], flags[i]);
  }

  void TakeEvent(std::string_view path, FSEventStreamEventFlags flags) {
    if ((flags & kFSEventStreamEventFlagRootChanged) != 0) return notes_->Trouble(Status::Of(Code::kSourceMissing));
    if ((flags & kLost) != 0) return notes_->Miss();
    if (!path.starts_with(root_)) return;
    path.remove_prefix(root_.size());
    while (path.starts_with('/')) path.remove_prefix(1);
    if (path.empty() || !IsReported(path)) return;
    notes_->Note(KindOf(path, flags), std::string(path));
  }

  ChangeKind KindOf(std::string_view path, FSEventStreamEventFlags flags) {
    if ((flags & kNamed) == 0) return ChangeKind::kChanged;
    core::Fd parent;
    std::string name;
    struct stat status;
    const bool there = disk::OpenParentBeneath(top_.get(), path, &parent, &name).ok() &&
                       fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    return there ? ChangeKind::kReplaced : ChangeKind::kRemoved;
  }

  ChangeNotes* const notes_;
  core::Fd top_;
  std::string root_;
  FSEventStreamRef stream_ = nullptr;
  dispatch_queue_t queue_ = nullptr;
};

ChangeWatch::ChangeWatch(std::string folder, core::Wake wake)
    : notes_(std::move(wake)), thread_(std::make_unique<Thread>(folder, &notes_)) {}

ChangeWatch::~ChangeWatch() = default;

void ChangeWatch::Stop() { thread_->Stop(); }

}  // namespace keibi::share
