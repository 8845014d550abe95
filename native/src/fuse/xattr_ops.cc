// SPDX-License-Identifier: MPL-2.0
#include "fuse/xattr_ops.h"

#include <sys/xattr.h>

#include <cerrno>

#include "fuse/parts.h"
#include "mount/host_messages.h"

namespace keibi::fuse {
namespace {

using mount::InodeTable;
using mount::Type;
namespace message = mount::message;

constexpr std::string_view kUserNames = "user.";
constexpr size_t kMostValueBytes = 65536;  // XATTR_SIZE_MAX

}  // namespace

void XattrOps::GetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, size_t size) {
  std::string path;
  InodeTable::Doubt doubt;
  // Not ENODATA: a program that lists a directory would then ask for each file.
  if (!name.starts_with(kUserNames) || !parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, name.starts_with(kUserNames) ? ENODATA : ENOTSUP);
    return;
  }
  parts_.requests.AskValue(request, Type::kGetAttribute, message::GetAttribute{path, name}.Body(), size);
}

void XattrOps::SetAttribute(fuse_req_t request, uint64_t ino, const std::string& name, std::string_view value,
                            int how) {
  std::string path;
  InodeTable::Doubt doubt;
  int error = 0;
  if (!name.starts_with(kUserNames)) error = ENOTSUP;
  if (value.size() > kMostValueBytes) error = E2BIG;
  if (error == 0 && !parts_.inodes.Ask(ino, &path, &doubt)) error = ENOENT;
  if (error != 0) {
    fuse_reply_err(request, error);
    return;
  }
  using How = message::SetAttribute::How;
  const How wanted = how == XATTR_CREATE ? How::kNew : how == XATTR_REPLACE ? How::kOld : How::kAny;
  parts_.requests.AskPlainly(request, Type::kSetAttribute, message::SetAttribute{wanted, path, name, value}.Body());
}

void XattrOps::RemoveAttribute(fuse_req_t request, uint64_t ino, const std::string& name) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!name.starts_with(kUserNames) || !parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENODATA);
    return;
  }
  parts_.requests.AskPlainly(request, Type::kRemoveAttribute, message::RemoveAttribute{path, name}.Body());
}

void XattrOps::ListAttributes(fuse_req_t request, uint64_t ino, size_t size) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  parts_.requests.AskValue(request, Type::kListAttributes, message::ListAttributes{path}.Body(), size);
}

}  // namespace keibi::fuse
