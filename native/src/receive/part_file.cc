// SPDX-License-Identifier: MPL-2.0
#include "receive/part_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/bytes.h"
#include "platform/disk.h"
#include "platform/file_time.h"
#include "platform/write_at.h"

namespace keibi::receive {

using core::Code;
using core::LoadBigEndian;
using core::Status;
using core::StoreBigEndian;

namespace {

constexpr size_t kHeadBytes = 52, kBootIdAt = 28, kBootIdBytes = 16, kDataBytesAt = 44, kSumBytes = 32;
constexpr uint8_t kPartVersion = 2;
constexpr size_t kMaxMapBytes = kHeadBytes + (size_t{1} << 29) + kSumBytes;  // of kMaxChunkedBytes
using BootIdBytes = std::array<uint8_t, kBootIdBytes>;
using Sum = std::array<uint8_t, kSumBytes>;

// Zero blocks of this length are not written to a sparse file: the smallest unit that file systems allocate.
constexpr size_t kBlockBytes = 4096;
constexpr uint64_t kWriteBehindFrom = uint64_t{4} << 30;  // measured in decision 007

Sum Sha256(const void* data, size_t bytes) {
  Sum sum;
  EVP_Digest(data, bytes, sum.data(), nullptr, EVP_sha256(), nullptr);
  return sum;
}

std::string KeyOf(const std::string& path) {
  static constexpr char kHex[] = "0123456789abcdef";
  const Sum sum = Sha256(path.data(), path.size());
  std::string key;
  for (size_t i = 0; i < 16; i++) (key += kHex[sum[i] >> 4]) += kHex[sum[i] & 15];
  return key;
}

// Identifies this boot of the machine; zeros where the system has no identifier.
BootIdBytes BootId() {
  BootIdBytes id{};
  char text[64];
  const core::Fd fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  const ssize_t length = fd.valid() ? read(fd.get(), text, sizeof text) : 0;
  if (length > 0) std::memcpy(id.data(), Sha256(text, static_cast<size_t>(length)).data(), id.size());
  return id;
}

}  // namespace

PartFile::PartFile(const Staging& staging, PartIdentity identity) : staging_(staging), identity_(std::move(identity)) {
  const std::string key = KeyOf(identity_.path);
  data_name_ = key + ".data";
  map_name_ = key + ".map";
}

PartFile::Found PartFile::Load() {
  const std::scoped_lock lock(mutex_);
  Found otherwise = Found::kNothing;
  if (auto map = ReadMap(&otherwise)) {
    struct stat status;
    const bool there = fstatat(staging_.fd(), data_name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                       faccessat(staging_.fd(), data_name_.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
    const auto length = there ? static_cast<uint64_t>(status.st_size) : 0;
    if (there && S_ISREG(status.st_mode) && length >= map->data_bytes && length <= identity_.version.size) {
      bitmap_ = std::move(map->bitmap);
      saved_ = bitmap_.held();
      resumed_ = true;
      return Found::kRest;
    }
  }
  if (otherwise == Found::kNewer) return otherwise;
  staging_.Remove(map_name_);
  staging_.Remove(data_name_);
  return otherwise;
}

std::optional<PartFile::Map> PartFile::ReadMap(Found* otherwise) {
  const core::Fd fd(openat(staging_.fd(), map_name_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  const uint32_t chunks = manifest::ChunksOf(identity_.version.size);
  const size_t bitmap_bytes = (size_t{chunks} + 7) / 8;
  struct stat status;
  if (fstat(fd.get(), &status) != 0 || status.st_size > static_cast<off_t>(kMaxMapBytes)) return std::nullopt;
  std::vector<uint8_t> map(static_cast<size_t>(status.st_size));
  const ssize_t length = read(fd.get(), map.data(), map.size());
  if (length < static_cast<ssize_t>(kHeadBytes + kSumBytes)) return std::nullopt;
  const size_t body = static_cast<size_t>(length) - kSumBytes;
  if (std::memcmp(Sha256(map.data(), body).data(), &map[body], kSumBytes) != 0) return std::nullopt;
  const bool is_map = std::memcmp(map.data(), "KDBM", 4) == 0;
  if (is_map && map[4] > kPartVersion) *otherwise = Found::kNewer;
  const bool whole = is_map && map[4] == kPartVersion;
  const bool ours = LoadBigEndian<uint64_t>(&map[8]) == identity_.version.size &&
                    static_cast<int64_t>(LoadBigEndian<uint64_t>(&map[16])) == identity_.version.mtime_ns;
  if (whole && !ours) *otherwise = Found::kOther;
  if (!whole || !ours || body != kHeadBytes + bitmap_bytes || LoadBigEndian<uint32_t>(&map[24]) != core::kChunkBytes)
    return std::nullopt;
  const bool synced = map[5] == 1;
  const BootIdBytes boot_id = BootId();
  const bool same_boot = boot_id != BootIdBytes{} && std::memcmp(&map[kBootIdAt], boot_id.data(), kBootIdBytes) == 0;
  if (!synced && !same_boot) return std::nullopt;
  return Map{LoadBigEndian<uint64_t>(&map[kDataBytesAt]), manifest::Bitmap(chunks, &map[kHeadBytes])};
}

Status PartFile::OpenData() {
  if (data_) return Status::Ok();
  if (bitmap_.held() == 0) return CreateData();
  core::Fd fd(openat(staging_.fd(), data_name_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return platform::WriteError(Code::kDestinationUnusable);
  data_ = std::make_shared<core::Fd>(std::move(fd));
  return Status::Ok();
}

// Allocates the bitmap only after checking that the disk has room for the file, so its memory stays in proportion. The
// room that a sparse file needs is unknown and not checked.
Status PartFile::CreateData() {
  struct statvfs disk;
  if (!identity_.sparse && fstatvfs(staging_.fd(), &disk) == 0 &&
      uint64_t{disk.f_bavail} * disk.f_frsize < identity_.version.size) {
    return Status::Of(Code::kDiskFull, ENOSPC);
  }
  staging_.Remove(data_name_);
  core::Fd fd;
  if (const Status status = staging_.Create(data_name_, 0600, &fd); !status.ok()) return status;
  data_ = std::make_shared<core::Fd>(std::move(fd));
  bitmap_ = manifest::Bitmap(manifest::ChunksOf(identity_.version.size));
  return Status::Ok();
}

Status PartFile::Write(uint32_t chunk, const uint8_t* data, size_t bytes, Written* written) {
  *written = Written::kIgnored;
  std::shared_ptr<core::Fd> file;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return Status::Ok();
    if (const Status status = OpenData(); !status.ok()) return status;
    if (bitmap_.Has(chunk) || !writing_.insert(chunk).second) return Status::Ok();
    file = data_;
  }
  const uint64_t offset = uint64_t{chunk} * core::kChunkBytes;
  const Status status = WriteData(file->get(), data, bytes, offset);
  if (status.ok() && identity_.version.size >= kWriteBehindFrom) platform::WriteBehind(file->get(), offset + bytes);
  const std::scoped_lock lock(mutex_);
  writing_.erase(chunk);
  if (!status.ok() || ended_) return status;
  bitmap_.Set(chunk);
  *written = bitmap_.complete() ? Written::kLast : Written::kNew;
  return status;
}

// Writes only the non-zero blocks of a sparse file, so that it uses as little of the disk as at the sender.
Status PartFile::WriteData(int fd, const uint8_t* data, size_t bytes, uint64_t offset) const {
  if (!identity_.sparse) return platform::WriteAt(fd, data, bytes, offset);
  if (resumed_) {
    if (const Status status = platform::PunchHole(fd, offset, bytes); !status.ok()) return status;
  }
  const auto is_zero = [&](size_t at) {
    const size_t length = std::min(kBlockBytes, bytes - at);
    return data[at] == 0 && std::memcmp(data + at, data + at + 1, length - 1) == 0;
  };
  for (size_t at = 0, end = 0; at < bytes; at = end) {
    const bool zero = is_zero(at);
    end = at;
    do end = std::min(end + kBlockBytes, bytes);
    while (end < bytes && is_zero(end) == zero);
    if (zero) continue;
    if (const Status status = platform::WriteAt(fd, data + at, end - at, offset + at); !status.ok()) return status;
  }
  return Status::Ok();
}

Status PartFile::LeaveHole(uint32_t chunk, uint32_t chunks, uint64_t* new_bytes, Written* written) {
  *written = Written::kIgnored;
  *new_bytes = 0;
  const std::scoped_lock lock(mutex_);
  if (ended_) return Status::Ok();
  if (const Status status = OpenData(); !status.ok()) return status;
  for (uint32_t at = bitmap_.NextMissing(chunk); at < chunk + chunks; at = bitmap_.NextMissing(at + 1)) {
    if (writing_.contains(at)) continue;
    const uint64_t offset = uint64_t{at} * core::kChunkBytes;
    const uint64_t bytes = std::min<uint64_t>(core::kChunkBytes, identity_.version.size - offset);
    if (resumed_) {
      if (const Status status = platform::PunchHole(data_->get(), offset, bytes); !status.ok()) return status;
    }
    bitmap_.Set(at);
    *new_bytes += bytes;
    *written = bitmap_.complete() ? Written::kLast : Written::kNew;
  }
  return Status::Ok();
}

Status PartFile::Save(bool sync) {
  const std::scoped_lock map_lock(map_mutex_);
  std::vector<uint8_t> map(kHeadBytes);
  std::shared_ptr<core::Fd> file;
  uint32_t held;
  {
    const std::scoped_lock lock(mutex_);
    held = bitmap_.held();
    if (ended_ || !data_ || held == 0 || (held == saved_ && !sync)) return Status::Ok();
    file = data_;
    map.insert(map.end(), bitmap_.bytes().begin(), bitmap_.bytes().end());
  }
  if (sync && fdatasync(file->get()) != 0) return platform::WriteError(Code::kDestinationUnusable);
  // Read the size after the bits, so that every chunk they name lies within it.
  struct stat status;
  if (fstat(file->get(), &status) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  std::memcpy(map.data(), "KDBM", 4);
  map[4] = kPartVersion;
  map[5] = sync ? 1 : 0;
  StoreBigEndian<uint64_t>(&map[8], identity_.version.size);
  StoreBigEndian<uint64_t>(&map[16], static_cast<uint64_t>(identity_.version.mtime_ns));
  StoreBigEndian<uint32_t>(&map[24], core::kChunkBytes);
  StoreBigEndian<uint64_t>(&map[kDataBytesAt], static_cast<uint64_t>(status.st_size));
  const auto boot_id = BootId();
  std::memcpy(&map[kBootIdAt], boot_id.data(), boot_id.size());
  const Sum sum = Sha256(map.data(), map.size());
  map.insert(map.end(), sum.begin(), sum.end());

  const std::string fresh = "s-" + map_name_;
  core::Fd fd;
  staging_.Remove(fresh);
  if (const Status status = staging_.Create(fresh, 0600, &fd); !status.ok()) return status;
  if (const Status status = platform::WriteAt(fd.get(), map.data(), map.size(), 0); !status.ok()) return status;
  if (sync && fdatasync(fd.get()) != 0) return platform::WriteError(Code::kDestinationUnusable);
  if (renameat(staging_.fd(), fresh.c_str(), staging_.fd(), map_name_.c_str()) != 0)
    return platform::WriteError(Code::kDestinationUnusable);
  const std::scoped_lock lock(mutex_);
  saved_ = held;
  return Status::Ok();
}

Status PartFile::Complete(mode_t mode) {
  const std::scoped_lock lock(map_mutex_, mutex_);
  if (ended_) return Status::Of(Code::kCancelled);
  if (const Status status = OpenData(); !status.ok()) return status;
  ended_ = true;
  const std::shared_ptr<core::Fd> file = std::exchange(data_, nullptr);
  // Extends the file by a hole; written data never lies beyond its final size.
  struct stat status;
  const auto size = static_cast<off_t>(identity_.version.size);
  if (fstat(file->get(), &status) != 0) return Status::FromErrno(Code::kDestinationUnusable);
  if (status.st_size < size && ftruncate(file->get(), size) != 0)
    return platform::WriteError(Code::kDestinationUnusable);
  const bool set = fchmod(file->get(), mode) == 0 &&
                   futimens(file->get(), platform::FileTimes(identity_.version.mtime_ns).times) == 0;
  return set ? Status::Ok() : Status::FromErrno(Code::kDestinationUnusable);
}

void PartFile::Forget() {
  const std::scoped_lock lock(map_mutex_);
  staging_.Remove(map_name_);
}

void PartFile::Discard() {
  const std::scoped_lock lock(map_mutex_, mutex_);
  ended_ = true;
  data_.reset();
  staging_.Remove(map_name_);
  staging_.Remove(data_name_);
}

manifest::Bitmap PartFile::held() const {
  const std::scoped_lock lock(mutex_);
  return bitmap_;
}

}  // namespace keibi::receive
