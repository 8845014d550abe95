// SPDX-License-Identifier: MPL-2.0
#include "fuse/operations.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "fuse/server.h"

namespace keibi::fuse {
namespace {

using platform::LockKind;

Server& ServerOf(fuse_req_t request) {
  Server& server = *static_cast<Server*>(fuse_req_userdata(request));
  server.OnRequest();
  return server;
}

OpenedDirectory* DirectoryOf(const fuse_file_info* info) { return reinterpret_cast<OpenedDirectory*>(info->fh); }

void Init(void* server, fuse_conn_info* connection) { static_cast<Server*>(server)->Init(connection); }

void Lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  ServerOf(request).lookup().Lookup(request, parent, name);
}

void Forget(fuse_req_t request, fuse_ino_t ino, uint64_t times) {
  ServerOf(request).lookup().Forget(ino, times);
  fuse_reply_none(request);
}

void ForgetMany(fuse_req_t request, size_t count, fuse_forget_data* forgets) {
  for (size_t i = 0; i < count; i++) ServerOf(request).lookup().Forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(request);
}

void GetAttributes(fuse_req_t request, fuse_ino_t ino, fuse_file_info*) {
  ServerOf(request).lookup().GetAttributes(request, ino);
}

void ReadLink(fuse_req_t request, fuse_ino_t ino) { ServerOf(request).lookup().ReadLink(request, ino); }

void OpenDirectory(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  ServerOf(request).lookup().OpenDirectory(request, ino, *info);
}

void ReadDirectory(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info) {
  ServerOf(request).lookup().ReadDirectory(request, ino, size, offset, DirectoryOf(info), false);
}

void ReadDirectoryPlus(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info) {
  ServerOf(request).lookup().ReadDirectory(request, ino, size, offset, DirectoryOf(info), true);
}

void ReleaseDirectory(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  delete DirectoryOf(info);
  fuse_reply_err(request, 0);
}

void Open(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  ServerOf(request).reads().Open(request, ino, *info);
}

void Read(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, fuse_file_info* info) {
  ServerOf(request).reads().Read(request, ino, size, offset, reinterpret_cast<Handle*>(info->fh));
}

void Release(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  ServerOf(request).reads().Release(request, ino, reinterpret_cast<Handle*>(info->fh), *info);
}

void SetAttributes(fuse_req_t request, fuse_ino_t ino, struct stat* wanted, int what, fuse_file_info*) {
  ServerOf(request).writes().SetAttributes(request, ino, *wanted, what);
}

void MakeNode(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  if (S_ISREG(mode)) return ServerOf(request).names().Make(request, parent, name, manifest::EntryType::kFile, mode, {});
  fuse_reply_err(request, EPERM);
}

void MakeDirectory(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  ServerOf(request).names().Make(request, parent, name, manifest::EntryType::kDirectory, mode, {});
}

void MakeSymlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  ServerOf(request).names().Make(request, parent, name, manifest::EntryType::kSymlink, 0777, target);
}

void MakeLink(fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) { fuse_reply_err(request, EPERM); }

void Create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
  ServerOf(request).names().Create(request, parent, name, mode, *info);
}

void Unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  ServerOf(request).names().Remove(request, parent, name, false);
}

void RemoveDirectory(fuse_req_t request, fuse_ino_t parent, const char* name) {
  ServerOf(request).names().Remove(request, parent, name, true);
}

void Rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t to_parent, const char* to,
            unsigned how) {
  ServerOf(request).names().Rename(request, parent, name, to_parent, to, how);
}

void Write(fuse_req_t request, fuse_ino_t ino, const char* bytes, size_t length, off_t offset, fuse_file_info* info) {
  ServerOf(request).writes().Write(request, ino, reinterpret_cast<const uint8_t*>(bytes), length,
                                   static_cast<uint64_t>(offset),
                                   (info->flags & O_APPEND) != 0 && info->writepage == 0);
}

void Flush(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info) {
  ServerOf(request).writes().Flush(request, ino, *reinterpret_cast<const Handle*>(info->fh), info->lock_owner);
}

void Sync(fuse_req_t request, fuse_ino_t ino, int, fuse_file_info*) { ServerOf(request).writes().Sync(request, ino); }

void SyncDirectory(fuse_req_t request, fuse_ino_t ino, int, fuse_file_info*) {
  ServerOf(request).names().SyncDirectory(request, ino);
}

void GetAttribute(fuse_req_t request, fuse_ino_t ino, const char* name, size_t size) {
  ServerOf(request).xattrs().GetAttribute(request, ino, name, size);
}

void SetAttribute(fuse_req_t request, fuse_ino_t ino, const char* name, const char* value, size_t size, int how) {
  ServerOf(request).xattrs().SetAttribute(request, ino, name, {value, size}, how);
}

void RemoveAttribute(fuse_req_t request, fuse_ino_t ino, const char* name) {
  ServerOf(request).xattrs().RemoveAttribute(request, ino, name);
}

void ListAttributes(fuse_req_t request, fuse_ino_t ino, size_t size) {
  ServerOf(request).xattrs().ListAttributes(request, ino, size);
}

LockKind KindOf(const struct flock& lock) {
  if (lock.l_type == F_UNLCK) return LockKind::kNone;
  return lock.l_type == F_RDLCK ? LockKind::kShared : LockKind::kExclusive;
}

Locking::Wanted WantedOf(fuse_ino_t ino, const fuse_file_info& info, const struct flock& lock) {
  const auto from = static_cast<uint64_t>(lock.l_start);
  const uint64_t end = lock.l_len == 0 ? platform::kLockEnd : from + static_cast<uint64_t>(lock.l_len);
  return {ino, {info.lock_owner, false}, {from, end}, KindOf(lock), false};
}

void TestLock(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info, struct flock* lock) {
  ServerOf(request).locking().Test(request, WantedOf(ino, *info, *lock));
}

void SetLock(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info, struct flock* lock, int sleep) {
  Locking::Wanted wanted = WantedOf(ino, *info, *lock);
  wanted.waits = sleep != 0;
  ServerOf(request).locking().Set(request, wanted);
}

void LockWhole(fuse_req_t request, fuse_ino_t ino, fuse_file_info* info, int how) {
  const int what = how & ~LOCK_NB;
  const auto kind = what == LOCK_UN ? LockKind::kNone : what == LOCK_SH ? LockKind::kShared : LockKind::kExclusive;
  ServerOf(request).locking().Set(request, {ino, {info->lock_owner, true}, {}, kind, (how & LOCK_NB) == 0});
}

void StatFs(fuse_req_t request, fuse_ino_t) { ServerOf(request).lookup().StatFs(request); }

// No fallocate: a mount cannot reserve space on the other peer's disk. posix_fallocate(3) then writes zeros.
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
  operations.setattr = SetAttributes;
  operations.mknod = MakeNode;
  operations.mkdir = MakeDirectory;
  operations.symlink = MakeSymlink;
  operations.link = MakeLink;
  operations.create = Create;
  operations.unlink = Unlink;
  operations.rmdir = RemoveDirectory;
  operations.rename = Rename;
  operations.write = Write;
  operations.flush = Flush;
  operations.fsync = Sync;
  operations.fsyncdir = SyncDirectory;
  operations.getxattr = GetAttribute;
  operations.setxattr = SetAttribute;
  operations.removexattr = RemoveAttribute;
  operations.listxattr = ListAttributes;
  operations.getlk = TestLock;
  operations.setlk = SetLock;
  operations.flock = LockWhole;
  return operations;
}

}  // namespace

const fuse_lowlevel_ops& Operations() {
  static const fuse_lowlevel_ops operations = MakeOperations();
  return operations;
}

}  // namespace keibi::fuse
