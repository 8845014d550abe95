// SPDX-License-Identifier: MPL-2.0
#include "bench/disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "bench/stopwatch.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/synthetic_data.h"
#include "manifest/digest.h"
#include "platform/write_at.h"

namespace keibi::bench {

using core::Code;
using core::Status;

namespace {

// Often enough that a stop does not wait for gigabytes to be written out, and that the figure is not memory speed.
constexpr uint64_t kSyncEvery = uint64_t{64} << 20;
constexpr double kCachedShare = 0.1;  // a file with more than this share in memory was not read from a disk

Status Sync(int fd) { return fdatasync(fd) == 0 ? Status::Ok() : platform::WriteError(Code::kDestinationUnusable); }

bool IsInMemory(int fd, uint64_t bytes) {
  if (bytes == 0) return false;
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return false;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const bool known = mincore(mapped, bytes, pages.data()) == 0;
  munmap(mapped, bytes);
  const auto resident = std::count_if(pages.begin(), pages.end(), [](unsigned char one) { return (one & 1) != 0; });
  return known && static_cast<double>(resident) > kCachedShare * static_cast<double>(pages.size());
}

}  // namespace

Status WriteToDisk(const std::string& path, uint64_t bytes, const std::atomic<bool>& stopped, double* seconds) {
  std::vector<uint8_t> chunk(core::kChunkBytes);
  const Stopwatch watch;
  const core::Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return platform::WriteError(Code::kDestinationUnusable);
  for (uint64_t offset = 0; offset < bytes; offset += chunk.size()) {
    if (stopped.load()) return Status::Of(Code::kCancelled);
    const size_t size = static_cast<size_t>(std::min<uint64_t>(chunk.size(), bytes - offset));
    core::FillWithSyntheticData(offset, chunk.data(), size);
    if (const Status status = platform::WriteAt(file.get(), chunk.data(), size, offset); !status.ok()) return status;
    if ((offset + size) % kSyncEvery != 0) continue;
    if (const Status status = Sync(file.get()); !status.ok()) return status;
  }
  if (const Status status = Sync(file.get()); !status.ok()) return status;
  *seconds = watch.seconds();
  return Status::Ok();
}

Status ReadFromDisk(const std::string& path, const std::atomic<bool>& stopped, DiskRead* read) {
  const core::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!file.valid() || fstat(file.get(), &status) != 0) return Status::FromErrno(Code::kSourceUnreadable);
  manifest::ForgetCached(file.get());
  read->from_memory = IsInMemory(file.get(), static_cast<uint64_t>(status.st_size));
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);  // as a sender reads
  std::vector<uint8_t> chunk(core::kChunkBytes);
  const Stopwatch watch;
  for (read->bytes = 0;;) {
    if (stopped.load()) return Status::Of(Code::kCancelled);
    const ssize_t got = pread(file.get(), chunk.data(), chunk.size(), static_cast<off_t>(read->bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::FromErrno(Code::kSourceUnreadable);
    if (got == 0) break;
    read->bytes += static_cast<uint64_t>(got);
  }
  read->seconds = watch.seconds();
  return Status::Ok();
}

Status FlushToDisk(const std::string& path, double* seconds) {
  const Stopwatch watch;
  const core::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Status::FromErrno(Code::kSourceUnreadable);
  manifest::ForgetCached(file.get());
  *seconds = watch.seconds();
  return Status::Ok();
}

}  // namespace keibi::bench
