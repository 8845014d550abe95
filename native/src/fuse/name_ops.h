// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "fuse/daemon_requests.h"
#include "fuse/lookup_ops.h"

namespace keibi::fuse {

// Creates, removes and renames: each change is made at the other peer before it is answered. Any thread.
class NameOps {
 public:
  NameOps(Parts* parts, LookupOps* lookup) : parts_(*parts), lookup_(*lookup) {}

  void Create(fuse_req_t request, uint64_t parent, const std::string& name, mode_t mode, const fuse_file_info& info);
  void Make(fuse_req_t request, uint64_t parent, const std::string& name, manifest::EntryType type, mode_t mode,
            const std::string& target);
  void Remove(fuse_req_t request, uint64_t parent, const std::string& name, bool directory);
  void Rename(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent, const std::string& to,
              unsigned how);
  void SyncDirectory(fuse_req_t request, uint64_t ino);

 private:
  // False if nothing can be created there under this name; the request is then answered.
  bool PathFor(fuse_req_t request, uint64_t parent, const std::string& name, std::string* path);
  void Settle(uint64_t parent, const std::string& name, int error);
  // `rest` may begin with the directory's new mtime.
  void SettleIn(uint64_t parent, const std::string& name, int error, mount::Reader rest);
  void OpenMade(fuse_req_t request, uint64_t parent, const std::string& name, const fuse_file_info& info);
  void RenameNow(fuse_req_t request, uint64_t parent, const std::string& name, uint64_t to_parent,
                 const std::string& to, uint8_t how);

  Parts& parts_;
  LookupOps& lookup_;
};

}  // namespace keibi::fuse
