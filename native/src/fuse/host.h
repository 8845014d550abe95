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
#include "fuse/arrivals.h"
#include "fuse/content.h"
#include "fuse/locking.h"
#include "fuse/lowlevel.h"
#include "fuse/mounted_folder.h"
#include "fuse/notifier.h"
#include "fuse/passing.h"
#include "fuse/vouched.h"
#include "fuse/waiting.h"
#include "mount/link.h"
#include "mount/tree.h"
#include "mount/walks.h"
#include "mount/write_back.h"

namespace keibi::fuse {

// The kernel asks for no more at once, and brings no more.
inline constexpr size_t kMostReadBytes = size_t{1} << 20;
inline constexpr size_t kMostWriteBytes = size_t{1} << 20;

struct Options {
  std::string folder;  // absolute: where it is mounted
  std::string name;    // what the file system is called in `mount`
  std::chrono::milliseconds patience{30'000};
  uint64_t cache_bytes = 0;  // of what nobody has open
  bool writable = false;
  std::string label;   // of this side, in the names of conflicts
  bool locks = false;  // are taken at the other peer; else the kernel has them
};

// Nothing here has them: a program that asks for one is refused.
inline constexpr mode_t kRefusedBits = 07000;  // set-uid, set-gid, sticky

// A directory that is open: as it was when it was opened, or rewound.
struct OpenedDirectory {
  std::mutex mutex;
  std::vector<mount::Line> lines;
  bool begun = false;
};

// Serves one mounted folder: the kernel's requests on the threads of libfuse, the Peer's messages on that of Serve.
// What the kernel asks is answered from the tree and the cache, or when the Peer has said what is missing, or with an
// error when patience is over.
class Host {
 public:
  Host(Options options, int link, int cache);

  // Mounts, serves and unmounts; the exit code of the process.
  int Run();

  Waiting& waiting() { return waiting_; }
  Locking& locking() { return locking_; }

  void Init(fuse_conn_info* connection);
  void OnRequest();  // before each
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

  // What was written is taken over by the call, and sent later.
  void Write(fuse_req_t request, uint64_t ino, const uint8_t* bytes, size_t length, uint64_t offset, bool append);
  void Flush(fuse_req_t request, uint64_t ino, const Handle& handle, uint64_t owner);
  void Sync(fuse_req_t request, uint64_t ino, bool answered = false);
  void SetAttributes(fuse_req_t request, uint64_t ino, const struct stat& wanted, int what, bool answered = false);

  // Names: each is done there when it is answered.
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
    bool ahead = false;  // nobody waits for it, or did when it was asked for
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
  void OnPeer(mount::Type type, mount::Reader body);
  void OnChanges(mount::Reader body);

  // Puts a question about `ino`; `then` runs on the link's thread once the tree has the answer.
  void SetAway(bool away);
  void AskList(uint64_t ino, Then then, bool ahead = false);
  void AskLook(uint64_t ino, Then then);
  void PutListing(uint64_t ino, mount::Tree::Doubt doubt, const Listing& listing, int* error);
  void Later(fuse_req_t request, std::function<void(fuse_req_t, int error)> work, const std::function<void(Then)>& ask);

  void ReplyEntry(fuse_req_t request, const mount::Found& found);
  void ReplyAttributes(fuse_req_t request, uint64_t ino);
  // What `found` is here: a draft may know better.
  void Amend(mount::Found* found);
  // Looks at what a notice may have been about.
  void Verify(uint64_t ino);
  // A question that is answered by one entry, or by nothing but an errno.
  // `rest`: what the answer tells beside the entry.
  mount::Link::Answer EntryAnswer(std::function<void(int error, const stream::Entry& entry, mount::Reader rest)> then);
  void AskPlainly(fuse_req_t request, mount::Type type, const mount::Writer& body);
  void AskValue(fuse_req_t request, mount::Type type, const mount::Writer& body, size_t size);
  // False, and answered, if nothing can be made there under this name.
  bool PathFor(fuse_req_t request, uint64_t parent, const std::string& name, std::string* path);
  void Settle(uint64_t parent, const std::string& name, int error);
  // `rest`: perhaps the mtime that the directory has by what was done in it.
  void SettleIn(uint64_t parent, const std::string& name, int error, mount::Reader rest);
  void OpenMade(fuse_req_t request, uint64_t parent, const std::string& name, const fuse_file_info& info);
  void RenameNow(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                 const std::string& to, uint8_t how);

  void FetchForOpen(uint64_t ino, const std::string& path, Then then);

  // The draft of a file, if it has one that is of use.
  std::shared_ptr<mount::Draft> DraftOf(uint64_t ino);
  // Makes one where there is none. An errno, or 0. `bare`: nothing of what is there will be read.
  int MakeDraft(uint64_t ino, bool bare, std::shared_ptr<mount::Draft>* draft);
  void SetTimes(fuse_req_t request, uint64_t ino, int64_t mtime_ns);
  void ReadDraft(Reading reading, const std::shared_ptr<mount::Draft>& draft);
  void FetchForDraft(const Reading& reading, const std::shared_ptr<mount::Draft>& draft, const mount::Missing& needed);
  static int64_t Now();
  void Leave(bool forced);
  void TellUnsent(mount::Type type, size_t files);
  struct stat StatOf(const mount::Found& found) const;

  // Whether what is known of a file is what the other peer has now, so that who opens it need not ask.
  bool IsFresh(uint64_t ino, const mount::Found& found, const fuse_file_info& info);
  int ReplyOpen(fuse_req_t request, uint64_t ino, fuse_file_info* opened, Handle* handle);
  void ReadOnce(Reading reading);
  void ReadMissing(const Reading& reading, const std::shared_ptr<Content>& content, uint32_t first, uint32_t end);
  // A lock was taken since the handle was read: it may go on with another version.
  void Renew(uint64_t ino, Handle* handle);
  // What the handle reads now; null with the errno that it is not readable for.
  std::shared_ptr<Content> ContentOf(const Reading& reading, int* error);
  // Somebody opens a small file, or a directory: what comes next on its way is asked for.
  void WalkOn(uint64_t ino, bool directory);
  void Follow(const mount::Walks::Plan& plan);
  void Fetch(const std::vector<uint64_t>& files);
  uint64_t MostBytesAhead() const;
  void AskAhead(uint64_t ino, const std::shared_ptr<Content>& content, const mount::ReadAhead::Plan& plan);
  void LeaveAhead(const Content& content);
  mount::Writer WantOf(uint64_t ino, const Content& content, uint32_t first, uint32_t count, uint32_t ahead) const;

  const Options options_;
  mount::Tree tree_;
  mount::Link link_;
  Contents contents_;
  Waiting waiting_;
  Arrivals arrivals_;
  Notifier notifier_;
  Passing passing_;
  KernelReadAhead read_ahead_;
  mount::WriteBack write_back_;
  Locking locking_;
  mount::Walks walks_;
  Vouched vouched_;
  std::atomic<int> verifying_{0};
  std::atomic<bool> asked_ = false;  // anything
  fuse_session* session_ = nullptr;
  std::atomic<uint32_t> most_ahead_;  // blocks, as the Peer has said last

  std::mutex lists_mutex_;
  std::map<std::pair<uint64_t, mount::Tree::Doubt>, std::shared_ptr<Listing>> lists_;
};

}  // namespace keibi::fuse
