// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "fuse/block_waiter.h"
#include "fuse/content.h"
#include "fuse/locking.h"
#include "fuse/lowlevel.h"
#include "fuse/mounted_folder.h"
#include "fuse/notifier.h"
#include "fuse/passthrough.h"
#include "fuse/pending_requests.h"
#include "fuse/vouched.h"
#include "mount/daemon_link.h"
#include "mount/inode_table.h"
#include "mount/prefetch.h"
#include "mount/write_back.h"

namespace keibi::fuse {

// The largest single FUSE read and write.
inline constexpr size_t kMostReadBytes = size_t{1} << 20;
inline constexpr size_t kMostWriteBytes = size_t{1} << 20;

struct Options {
  std::string folder;  // absolute: where it is mounted
  std::string name;    // the name of the file system in `mount`
  std::chrono::milliseconds patience{30'000};
  uint64_t cache_bytes = 0;  // limit of the cache, not counting open files
  bool writable = false;
  std::string label;   // of this side, in the names of conflict copies
  bool locks = false;  // take locks at the other peer; else the kernel keeps them
};

// Mode bits that a mount refuses to set.
inline constexpr mode_t kRefusedBits = 07000;  // set-uid, set-gid, sticky

// An open directory: its entries as of when it was opened, or rewound.
struct OpenedDirectory {
  std::mutex mutex;
  std::vector<mount::Line> lines;
  bool begun = false;
};

// Serves one mounted folder: the kernel's requests on the threads of libfuse, the daemon's messages on that of Serve.
// Requests are answered from the tree and the cache, or when the daemon has sent what is missing, or with an error
// after the timeout.
class Server {
 public:
  Server(Options options, int link, int cache);

  // Mounts, serves and unmounts; the exit code of the process.
  int Run();

  PendingRequests& waiting() { return pending_requests_; }
  Locking& locking() { return locking_; }

  void Init(fuse_conn_info* connection);
  void OnRequest();  // before each request
  void Lookup(fuse_req_t request, uint64_t parent, const std::string& name, bool answered = false);
  void Forget(uint64_t ino, uint64_t times);
  void GetAttributes(fuse_req_t request, uint64_t ino, bool answered = false);
  void ReadLink(fuse_req_t request, uint64_t ino);
  void OpenDirectory(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered = false);
  void ReadDirectory(fuse_req_t request, uint64_t ino, size_t size, off_t offset, OpenedDirectory* opened,
                     bool with_attributes, bool answered = false);
  void Open(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered = false);
  void Read(fuse_req_t request, uint64_t ino, size_t size, off_t offset, Handle* handle);
  void Release(fuse_req_t request, uint64_t ino, Handle* handle, const fuse_file_info& info);
  void StatFs(fuse_req_t request);

  // The call copies the written bytes; they are sent later.
  void Write(fuse_req_t request, uint64_t ino, const uint8_t* bytes, size_t length, uint64_t offset, bool append);
  void Flush(fuse_req_t request, uint64_t ino, const Handle& handle, uint64_t owner);
  void Sync(fuse_req_t request, uint64_t ino, bool answered = false);
  void SetAttributes(fuse_req_t request, uint64_t ino, const struct stat& wanted, int what, bool answered = false);

  // Names: each change is made at the other peer before it is answered.
  void Create(fuse_req_t request, uint64_t parent, const std::string& name, mode_t mode, const fuse_file_info& info);
  void Make(fuse_req_t request, uint64_t parent, const std::string& name, stream::EntryType type, mode_t mode,
            const std::string& target);
  void Remove(fuse_req_t request, uint64_t parent, const std::string& name, bool directory);
  void Rename(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent, const std::string& to,
              unsigned how);
  void SyncDirectory(fuse_req_t request, uint64_t ino);
  void GetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, size_t size);
  void SetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, std::string_view value, int how);
  void RemoveAttribute(fuse_req_t request, uint64_t ino, const std::string& name);
  void ListAttributes(fuse_req_t request, uint64_t ino, size_t size);

 private:
  using Then = std::function<void(int error)>;
  struct Listing {
    std::vector<uint8_t> entries;
    bool too_much = false;
    bool ahead = false;  // a prefetch that no request waits for, or did when it was sent
    std::vector<Then> then;
  };
  struct Reading {
    fuse_req_t request;
    uint64_t ino;
    uint64_t offset;
    size_t size;
    Handle* handle;
    int attempts = 0;
  };

  bool Mount(int* error);
  void Serve();
  void OnDaemon(mount::Type type, mount::Reader body);
  void OnChanges(mount::Reader body);

  // Sends a request about `ino`; `then` runs on the link's thread once the tree has the answer.
  void SetAway(bool away);
  void AskList(uint64_t ino, Then then, bool ahead = false);
  void AskLook(uint64_t ino, Then then);
  void PutListing(uint64_t ino, mount::InodeTable::Doubt doubt, const Listing& listing, int* error);
  void Later(fuse_req_t request, std::function<void(fuse_req_t, int error)> work, const std::function<void(Then)>& ask);

  void ReplyEntry(fuse_req_t request, const mount::Found& found);
  void ReplyAttributes(fuse_req_t request, uint64_t ino);
  // Corrects `found` by the file's overlay, which may be newer.
  void Amend(mount::Found* found);
  // Looks at a file that a notice may have been about.
  void Verify(uint64_t ino);
  // The answer to a request that brings one entry, or only an errno. `rest`: the fields of the answer beside the entry.
  mount::DaemonLink::Answer EntryAnswer(
      std::function<void(int error, const stream::Entry& entry, mount::Reader rest)> then);
  void AskPlainly(fuse_req_t request, mount::Type type, const mount::Writer& body);
  void AskValue(fuse_req_t request, mount::Type type, const mount::Writer& body, size_t size);
  // False if nothing can be created there under this name; the request is then answered.
  bool PathFor(fuse_req_t request, uint64_t parent, const std::string& name, std::string* path);
  void Settle(uint64_t parent, const std::string& name, int error);
  // `rest` may begin with the directory's new mtime.
  void SettleIn(uint64_t parent, const std::string& name, int error, mount::Reader rest);
  void OpenMade(fuse_req_t request, uint64_t parent, const std::string& name, const fuse_file_info& info);
  void RenameNow(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                 const std::string& to, uint8_t how);

  void FetchForOpen(uint64_t ino, const std::string& path, Then then);

  // The overlay of a file, if it has a valid one.
  std::shared_ptr<mount::OverlayFile> OverlayOf(uint64_t ino);
  // Makes an overlay if there is none. Returns an errno, or 0. `bare`: the present content will not be read.
  int MakeOverlay(uint64_t ino, bool bare, std::shared_ptr<mount::OverlayFile>* overlay);
  void SetTimes(fuse_req_t request, uint64_t ino, int64_t mtime_ns);
  void ReadOverlay(Reading reading, const std::shared_ptr<mount::OverlayFile>& overlay);
  void FetchForOverlay(const Reading& reading, const std::shared_ptr<mount::OverlayFile>& overlay,
                       const mount::Missing& needed);
  static int64_t Now();
  void Leave(bool forced);
  // Leaves what could not be sent to the daemon; call it when nothing is written any more, just before the process
  // ends.
  void LeaveUnsent();
  // `unsent`: 0 if the folder is in use.
  void RefuseUnmount(size_t unsent);
  struct stat StatOf(const mount::Found& found) const;

  // Whether the known version of a file is surely current, so that open(2) need not ask the other peer.
  bool IsFresh(uint64_t ino, const mount::Found& found, const fuse_file_info& info);
  int ReplyOpen(fuse_req_t request, uint64_t ino, fuse_file_info* opened, Handle* handle);
  void ReadOnce(Reading reading);
  void ReadMissing(const Reading& reading, const std::shared_ptr<Content>& content, uint32_t first, uint32_t end);
  // If a lock was taken since the handle's last read, lets the handle continue with another version.
  void Renew(uint64_t ino, Handle* handle);
  // The content that the handle reads now; null, with `error` set, if it is not readable.
  std::shared_ptr<Content> ContentOf(const Reading& reading, int* error);
  // Call when a program opens a small file, or a directory: requests what the walk reaches next.
  void WalkOn(uint64_t ino, bool directory);
  void Follow(const mount::Prefetch::Plan& plan);
  void Fetch(const std::vector<uint64_t>& files);
  uint64_t MostBytesAhead() const;
  void AskAhead(uint64_t ino, const std::shared_ptr<Content>& content, const mount::ReadAhead::Plan& plan);
  void LeaveAhead(const Content& content);
  mount::Writer WantOf(uint64_t ino, const Content& content, uint32_t first, uint32_t count, uint32_t ahead) const;

  const Options options_;
  mount::InodeTable inodes_;
  mount::DaemonLink link_;
  Contents contents_;
  PendingRequests pending_requests_;
  BlockWaiter block_waiter_;
  Notifier notifier_;
  Passthrough passthrough_;
  KernelReadAhead read_ahead_;
  mount::WriteBack write_back_;
  Locking locking_;
  mount::Prefetch prefetch_;
  Vouched vouched_;
  std::atomic<int> verifying_{0};
  std::atomic<bool> asked_ = false;  // whether any request has arrived
  fuse_session* session_ = nullptr;
  std::atomic<uint32_t> most_ahead_;  // blocks, as last reported by the daemon

  std::mutex lists_mutex_;
  std::map<std::pair<uint64_t, mount::InodeTable::Doubt>, std::shared_ptr<Listing>> lists_;
};

}  // namespace keibi::fuse
