// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "fuse/lookup_ops.h"
#include "fuse/lowlevel.h"
#include "fuse/name_ops.h"
#include "fuse/parts.h"
#include "fuse/read_ops.h"
#include "fuse/write_ops.h"
#include "fuse/xattr_ops.h"

namespace keibi::fuse {

// Serves one mounted folder: the kernel's requests on the threads of libfuse, the daemon's messages on that of Serve.
// Requests are answered from the inode table and the cache, or when the daemon has sent what is missing, or with an
// error after the timeout.
class Server {
 public:
  Server(Options options, int link, int cache) : parts_(std::move(options), link, cache) {}

  // Mounts, serves and unmounts; the exit code of the process.
  int Run();

  void Init(fuse_conn_info* connection);
  void OnRequest();  // before each request

  LookupOps& lookup() { return lookup_; }
  ReadOps& reads() { return reads_; }
  WriteOps& writes() { return writes_; }
  NameOps& names() { return names_; }
  XattrOps& xattrs() { return xattrs_; }
  Locking& locking() { return parts_.locking; }
  PendingRequests& pending_requests() { return parts_.pending_requests; }

 private:
  bool Mount(int* error);
  void Serve();
  void OnDaemon(mount::Type type, mount::Reader body);
  void OnChanges(mount::Reader body);
  void SetAway(bool away);
  void Leave(bool forced);
  // Leaves what could not be sent to the daemon; call it when nothing is written any more, just before the process
  // ends.
  void LeaveUnsent();
  // `unsent`: 0 if the folder is in use.
  void RefuseUnmount(size_t unsent);

  Parts parts_;
  LookupOps lookup_{&parts_};
  ReadOps reads_{&parts_};
  WriteOps writes_{&parts_, &lookup_};
  NameOps names_{&parts_, &lookup_};
  XattrOps xattrs_{&parts_};
  std::atomic<bool> asked_ = false;  // whether any request has arrived
  fuse_session* session_ = nullptr;
};

}  // namespace keibi::fuse
