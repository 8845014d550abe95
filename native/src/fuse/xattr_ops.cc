// SPDX-License-Identifier: MPL-2.0
#include "fuse/xattr_ops.h"

#include <sys/xattr.h>

#include <cerrno>

#include "fuse/parts.h"

namespace keibi::fuse {
namespace {

using mount::InodeTable;
using mount::Type;
using mount::Writer;

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
  Writer body;
  parts_.requests.AskValue(request, Type::kGetAttribute, body.Text(path).Rest(name), size);
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
  Writer body;
  body.Number(static_cast<uint8_t>(how == XATTR_CREATE    ? 1
                                   : how == XATTR_REPLACE ? 2
                                                          : 0))
      .Text(path)
      .Text(name)
      .Rest(value);
  parts_.requests.AskPlainly(request, Type::kSetAttribute, body);
}

void XattrOps::RemoveAttribute(fuse_req_t request, uint64_t ino, const std::string& name) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!name.starts_with(kUserNames) || !parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENODATA);
    return;
  }
  Writer body;
  parts_.requests.AskPlainly(request, Type::kRemoveAttribute, body.Text(path).Rest(name));
}

void XattrOps::ListAttributes(fuse_req_t request, uint64_t ino, size_t size) {
  std::string path;
  InodeTable::Doubt doubt;
  if (!parts_.inodes.Ask(ino, &path, &doubt)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  parts_.requests.AskValue(request, Type::kListAttributes, Writer().Rest(path), size);
}

}  // namespace keibi::fuse
