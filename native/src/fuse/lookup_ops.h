// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "fuse/daemon_requests.h"

namespace keibi::fuse {

// An open directory: its entries as of when it was opened, or rewound.
struct OpenedDirectory {
  std::mutex mutex;
  std::vector<mount::Line> lines;
  bool begun = false;
};

// The kernel's requests about names, attributes and directories that change nothing. Any thread.
class LookupOps {
 public:
  explicit LookupOps(Parts* parts) : parts_(*parts) {}

  void Lookup(fuse_req_t request, uint64_t parent, const std::string& name, bool answered = false);
  void Forget(uint64_t ino, uint64_t times);
  void GetAttributes(fuse_req_t request, uint64_t ino, bool answered = false);
  void ReadLink(fuse_req_t request, uint64_t ino);
  void OpenDirectory(fuse_req_t request, uint64_t ino, const fuse_file_info& info, bool answered = false);
  void ReadDirectory(fuse_req_t request, uint64_t ino, size_t size, off_t offset, OpenedDirectory* opened,
                     bool with_attributes, bool answered = false);
  void StatFs(fuse_req_t request);

  void ReplyEntry(fuse_req_t request, const mount::Found& found);
  void ReplyAttributes(fuse_req_t request, uint64_t ino);
  // Corrects `found` by the file's overlay, which may be newer.
  void Amend(mount::Found* found);
  struct stat StatOf(const mount::Found& found) const;

 private:
  Parts& parts_;
};

}  // namespace keibi::fuse
