// SPDX-License-Identifier: MPL-2.0
#include "remote/cache_fill.h"

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/limits.h"
#include "core/whole_io.h"
#include "disk/beneath.h"
#include "remote/block_signal.h"
#include "share/held_content.h"

namespace keibi::remote {
namespace {

using core::Code;
using core::Status;

constexpr uint32_t kBlocksAtOnce = core::kChunkBytes / kCacheBlockBytes;

Status ReadAll(int fd, uint64_t offset, std::vector<uint8_t>* bytes) {
  const ssize_t got = core::ReadWhole(fd, bytes->data(), bytes->size(), offset);
  if (got < 0) return Status::FromErrno(Code::kSourceUnreadable);
  return Status::Of(got == static_cast<ssize_t>(bytes->size()) ? Code::kOk : Code::kSourceChanged);
}

}  // namespace

Status FillCache(const CacheFill& fill) {
  const core::Fd directory(open(fill.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return Status::FromErrno(Code::kDestinationUnusable);
  std::shared_ptr<CacheFile> cached;
  if (const Status status = CacheFile::Open(directory.get(), fill.key, fill.identity, &cached); !status.ok())
    return status;
  if (uint64_t{fill.first} + fill.count > cached->blocks()) return Status::Of(Code::kSizeMismatch);
  core::Fd folder, source;
  if (const Status status = disk::OpenFolder(fill.folder, &folder); !status.ok()) return status;
  // Do not block on a pipe or a device before we can recognise it.
  if (const Status status = disk::OpenBeneath(folder.get(), fill.path, O_RDONLY | O_NONBLOCK, &source); !status.ok())
    return status;
  std::shared_ptr<BlockSignal> signal;
  if (!BlockSignal::Take(directory.get(), &signal).ok()) signal = nullptr;  // no listener
  const uint32_t end = fill.first + fill.count;
  share::HeldContent held{fill.identity.size, fill.identity.mtime_ns, std::nullopt};
  std::vector<uint8_t> bytes;
  for (uint32_t block = fill.first; (block = cached->FirstMissing(block, end - block)) < end;) {
    const uint32_t count = std::min(kBlocksAtOnce, end - block);
    const uint64_t offset = uint64_t{block} * kCacheBlockBytes;
    bytes.resize(std::min<uint64_t>(uint64_t{count} * kCacheBlockBytes, cached->size() - offset));
    if (const Status status = share::CheckHeld(source.get(), &held); !status.ok()) return status;
    if (const Status status = ReadAll(source.get(), offset, &bytes); !status.ok()) return status;
    if (const Status status = share::CheckHeld(source.get(), &held); !status.ok()) return status;
    if (const Status status = cached->Write(block, bytes.data(), bytes.size()); !status.ok()) return status;
    if (signal != nullptr) signal->Notify();
    block += count;
  }
  return Status::Ok();
}

}  // namespace keibi::remote
