// SPDX-License-Identifier: MPL-2.0
#include "fuse/operations.h"

#include "fuse/host.h"

namespace keibi::fuse {
namespace {

Host& HostOf(fuse_req_t request) { return *static_cast<Host*>(fuse_req_userdata(request)); }

void Init(void* host, fuse_conn_info* connection) { static_cast<Host*>(host)->Init(connection); }

void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name) { HostOf(request).Lookup(request, parent, name); }

void Forget(fuse_req_t request, fuse_ino_t ino, uint64_t times) {
  HostOf(request).Forget(ino, times);
  fuse_reply_none(request);
}

void ForgetMany(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
  for (size_t i = 0; i < count; i++) HostOf(request).Forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(request);
}

void GetAttributes(fuse_req_t request, fuse_ino_t ino, fuse_file_info*) { HostOf(request).GetAttributes(request, ino); }

void ReadLink(fuse_req_t request, fuse_ino_t ino) { HostOf(request).ReadLink(request, ino); }

void OpenDirectory(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  HostOf(request).OpenDirectory(request, ino, *info);
}

void ReadDirectory(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info) {
  HostOf(request).ReadDirectory(request, ino, size, offset, *info, false);
}

void ReadDirectoryPlus(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info) {
  HostOf(request).ReadDirectory(request, ino, size, offset, *info, true);
}

void ReleaseDirectory(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  delete reinterpret_cast<std::vector<mount::Line>*>(info->fh);
  fuse_reply_err(request, 0);
}

void Open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) { HostOf(request).Open(request, ino, *info); }

void Read(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info) {
  HostOf(request).Read(request, ino, size, offset, reinterpret_cast<Handle*>(info->fh));
}

void Release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  delete reinterpret_cast<Handle*>(info->fh);
  fuse_reply_err(request, 0);
}

void StatFs(fuse_req_t request, fuse_ino_t) { HostOf(request).StatFs(request); }

fuse_lowlevel_ops MakeOperations() {
  fuse_lowlevel_ops operations{};
  operations.init = Init;
  operations.lookup = Lookup;
  operations.forget = Forget;
  operations.forget_multi = ForgetMany;
  operations.getattr = GetAttributes;
  operations.readlink = ReadLink;
  operations.opendir = OpenDirectory;
  operations.readdir = ReadDirectory;
  operations.readdirplus = ReadDirectoryPlus;
  operations.releasedir = ReleaseDirectory;
  operations.open = Open;
  operations.read = Read;
  operations.release = Release;
  operations.statfs = StatFs;
  return operations;
}

}  // namespace

const fuse_lowlevel_ops& Operations() {
  static const fuse_lowlevel_ops operations = MakeOperations();
  return operations;
}

}  // namespace keibi::fuse
