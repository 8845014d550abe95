// SPDX-License-Identifier: MPL-2.0
#include "share/held_content.h"

#include "platform/birth_time.h"
#include "platform/file_time.h"

namespace keibi::share {
namespace {

using core::Code;
using core::Status;

// Judges by times whether a file of unknown inode may be the held content, grown: it was modified after the held mtime,
// and born no later than it. Any other file has replaced it.
bool MayHaveHad(int fd, const HeldContent& held, int64_t mtime_ns) {
  const std::optional<int64_t> born_ns = platform::BirthNs(fd);
  return mtime_ns > held.mtime_ns && (!born_ns || *born_ns <= held.mtime_ns);
}

}  // namespace

Status CheckHeld(int fd, HeldContent* held) {
  struct stat now {};
  if (fstat(fd, &now) != 0) return Status::FromErrno(Code::kSourceUnreadable);
  if (!S_ISREG(now.st_mode)) return Status::Of(Code::kSourceChanged);
  const std::pair inode{now.st_dev, now.st_ino};
  const auto size = static_cast<uint64_t>(now.st_size);
  const bool known = held->inode.has_value();
  const bool other = known && *held->inode != inode;
  const bool same = size == held->size && platform::MtimeNs(now) == held->mtime_ns;
  const bool grown = size > held->size && (known || MayHaveHad(fd, *held, platform::MtimeNs(now)));
  if (other || !(same || grown)) return Status::Of(Code::kSourceChanged);
  held->inode = inode;
  return Status::Ok();
}

}  // namespace keibi::share
