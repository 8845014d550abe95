// SPDX-License-Identifier: MPL-2.0
#include "remote/cache_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/limits.h"
#include "core/whole_io.h"
#include "platform/disk.h"
#include "platform/file_time.h"

namespace keibi::remote {
namespace {

using core::Code;
using core::Status;

constexpr char kMagic[4] = {'K', 'D', 'M', 'C'};
constexpr uint32_t kCacheVersion = 1;
constexpr uint32_t kBitsOfWord = 64;

// Another process writes it, so it must not need a lock.
static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

Status CacheWriteError() { return Status::FromErrno(errno == ENOSPC ? Code::kDiskFull : Code::kDestinationUnusable); }

uint32_t BlocksOf(uint64_t bytes) { return static_cast<uint32_t>((bytes + kCacheBlockBytes - 1) / kCacheBlockBytes); }

uint64_t DiskBytesOf(const struct stat& status) {
  constexpr uint64_t kBytesOfDiskBlock = 512;  // of st_blocks (stat(3type))
  return static_cast<uint64_t>(status.st_blocks) * kBytesOfDiskBlock;
}

uint64_t BitOf(uint32_t block) { return uint64_t{1} << (block % kBitsOfWord); }

}  // namespace

struct CacheFile::Map {
  char magic[4];
  uint32_t version;
  uint64_t size;
  int64_t mtime_ns;
  uint32_t block_bytes;
  uint32_t blocks;
  std::atomic<uint32_t> evictions;  // incremented after bits are cleared and before their blocks are lost
  uint32_t unused[7];
  std::atomic<uint64_t> words[];
};

Status CacheFile::Open(int directory, const std::string& key, const CacheIdentity& identity,
                       std::shared_ptr<CacheFile>* file) {
  static_assert(offsetof(Map, words) == 64);
  if (identity.size > core::kMaxSparseBytes) return Status::Of(Code::kLimitExceeded);
  std::shared_ptr<CacheFile> opened(new CacheFile(identity, BlocksOf(identity.size)));
  // The data first: an existing map then implies existing data.
  if (const Status status = opened->OpenData(directory, key + ".data"); !status.ok()) return status;
  if (const Status status = opened->OpenMap(directory, key + ".map"); !status.ok()) return status;
  *file = std::move(opened);
  return Status::Ok();
}

Status CacheFile::Adopt(int directory, const std::string& from, const std::string& key, const CacheIdentity& identity,
                        std::shared_ptr<CacheFile>* file) {
  if (renameat(directory, (from + ".data").c_str(), directory, (key + ".data").c_str()) != 0) return CacheWriteError();
  const Status status = Open(directory, key, identity, file);
  if (status.ok()) (*file)->SetAll(0, (*file)->blocks());
  return status;
}

bool CacheFile::Look(int directory, const std::string& key, Kept* kept) {
  const core::Fd fd(openat(directory, (key + ".map").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat map, data;
  if (!fd.valid() || fstat(fd.get(), &map) != 0 || !S_ISREG(map.st_mode)) return false;
  if (fstatat(directory, (key + ".data").c_str(), &data, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(data.st_mode))
    return false;
  // The words of the bitmap follow the head; the first word covers a short file.
  struct {
    alignas(Map) uint8_t head[sizeof(Map)];
    uint64_t word;
  } read{};
  const auto length = static_cast<size_t>(std::min<off_t>(map.st_size, sizeof read));
  if (length < sizeof(Map) || pread(fd.get(), &read, length, 0) != static_cast<ssize_t>(length)) return false;
  const auto* const head = reinterpret_cast<const Map*>(read.head);
  if (head->size > core::kMaxSparseBytes || head->size != static_cast<uint64_t>(data.st_size)) return false;
  const CacheFile named({head->size, head->mtime_ns}, BlocksOf(head->size));
  if (!named.IsHead(*head) || static_cast<uint64_t>(map.st_size) != named.MapBytes()) return false;
  kept->disk_bytes = DiskBytesOf(map) + DiskBytesOf(data);
  kept->used_ns = platform::MtimeNs(map);
  kept->whole = named.blocks_ <= kBitsOfWord && static_cast<uint32_t>(std::popcount(read.word)) == named.blocks_;
  return true;
}

void CacheFile::Touch(int directory, const std::string& key) {
  (void)!utimensat(directory, (key + ".map").c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

uint64_t CacheFile::disk_bytes() const {
  constexpr uint64_t kPage = 4096;
  struct stat data {};
  fstat(data_.get(), &data);
  return DiskBytesOf(data) + (MapBytes() + kPage - 1) / kPage * kPage;
}

CacheFile::~CacheFile() {
  if (map_ != nullptr) munmap(map_, MapBytes());
}

size_t CacheFile::MapBytes() const {
  return sizeof(Map) + size_t{(blocks_ + kBitsOfWord - 1) / kBitsOfWord} * sizeof(uint64_t);
}

Status CacheFile::OpenData(int directory, const std::string& name) {
  data_ = core::Fd(openat(directory, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!data_.valid()) return CacheWriteError();
  // Two processes may do this at once with the same result: it only makes the file longer.
  struct stat found;
  if (fstat(data_.get(), &found) != 0) return CacheWriteError();
  if (static_cast<uint64_t>(found.st_size) == identity_.size) return Status::Ok();
  return ftruncate(data_.get(), static_cast<off_t>(identity_.size)) == 0 ? Status::Ok() : CacheWriteError();
}

Status CacheFile::OpenMap(int directory, const std::string& name) {
  const core::Fd fd(openat(directory, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return CacheWriteError();
  // A new map is all zeros, which means no block is cached, whichever process creates it first.
  if (const Status status = platform::Reserve(fd.get(), MapBytes()); !status.ok()) return status;
  void* const mapped = mmap(nullptr, MapBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return CacheWriteError();
  map_ = static_cast<Map*>(mapped);
  if (IsHead(*map_)) return Status::Ok();
  // The map is new, or an older program version wrote it. Its words are unused or useless.
  for (size_t i = 0; i < (MapBytes() - sizeof(Map)) / sizeof(uint64_t); i++) {
    if (map_->version != 0) map_->words[i].store(0, std::memory_order_relaxed);
  }
  map_->version = kCacheVersion;
  map_->size = identity_.size;
  map_->mtime_ns = identity_.mtime_ns;
  map_->block_bytes = kCacheBlockBytes;
  map_->blocks = blocks_;
  std::memcpy(map_->magic, kMagic, sizeof kMagic);
  return Status::Ok();
}

bool CacheFile::IsHead(const Map& map) const {
  return std::memcmp(map.magic, kMagic, sizeof kMagic) == 0 && map.version == kCacheVersion &&
         map.size == identity_.size && map.mtime_ns == identity_.mtime_ns && map.block_bytes == kCacheBlockBytes &&
         map.blocks == blocks_;
}

bool CacheFile::Has(uint32_t block) const {
  return block < blocks_ && (map_->words[block / kBitsOfWord].load(std::memory_order_acquire) & BitOf(block)) != 0;
}

uint32_t CacheFile::FirstMissing(uint32_t first, uint32_t count) const {
  const uint64_t end = uint64_t{first} + count;
  for (uint64_t at = first; at < end && at < blocks_;) {
    const uint64_t word = map_->words[at / kBitsOfWord].load(std::memory_order_acquire) >> (at % kBitsOfWord);
    const int present = std::countr_one(word);
    if (at + static_cast<uint32_t>(present) >= end) break;
    at += static_cast<uint32_t>(present);
    // The rest of the word is set; the zeros shifted in mean nothing.
    if (at % kBitsOfWord == 0 && present > 0) continue;
    return static_cast<uint32_t>(at);
  }
  return static_cast<uint32_t>(end);
}

Status CacheFile::Write(uint32_t first, const uint8_t* bytes, size_t length) {
  const uint64_t start = uint64_t{first} * kCacheBlockBytes;
  if (first >= blocks_ || length == 0 || length > size() - start) return Status::Of(Code::kSizeMismatch);
  if (length % kCacheBlockBytes != 0 && start + length != size()) return Status::Of(Code::kSizeMismatch);
  // Without the lock, an eviction in between would leave bits set for missing data. Where locks fail, nothing is
  // evicted.
  Lock(F_RDLCK, /*wait=*/true, start, length);
  const Status status = core::WriteWhole(data_.get(), bytes, length, start) ? Status::Ok() : CacheWriteError();
  if (status.ok()) SetAll(first, first + BlocksOf(length));
  Lock(F_UNLCK, /*wait=*/false, start, length);
  return status;
}

// Locks the open file description, so the lock works between processes and between several opens of the file.
bool CacheFile::Lock(short how, bool wait, uint64_t start, uint64_t bytes) const {
  struct flock range {};
  range.l_type = how;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(start);
  range.l_len = static_cast<off_t>(bytes);
  int result = 0;
  do {
    result = fcntl(data_.get(), wait ? F_OFD_SETLKW : F_OFD_SETLK, &range);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

void CacheFile::SetAll(uint32_t first, uint32_t end) {
  for (uint32_t block = first; block < end;) {
    // One atomic step per word: a reader may look meanwhile.
    const uint32_t in_word = std::min(end - block, kBitsOfWord - block % kBitsOfWord);
    const uint64_t bits = in_word == kBitsOfWord ? ~uint64_t{0} : (uint64_t{1} << in_word) - 1;
    map_->words[block / kBitsOfWord].fetch_or(bits << (block % kBitsOfWord), std::memory_order_release);
    block += in_word;
  }
}

bool CacheFile::Read(uint64_t offset, uint8_t* to, size_t length, Status* status) const {
  *status = Status::Ok();
  const auto first = static_cast<uint32_t>(offset / kCacheBlockBytes);
  const auto end = static_cast<uint32_t>((offset + length + kCacheBlockBytes - 1) / kCacheBlockBytes);
  for (;;) {
    const uint32_t evictions = map_->evictions.load(std::memory_order_acquire);
    if (!HasAll(first, end - first)) return false;
    *status = ReadData(offset, to, length);
    // An eviction meanwhile may have made the read return zeros, even if the block has come back. Adding 0 is a load
    // ordered after the read; a fence would do, but TSan does not support fences.
    if (map_->evictions.fetch_add(0, std::memory_order_acq_rel) == evictions) return true;
  }
}

Status CacheFile::ReadData(uint64_t offset, uint8_t* to, size_t length) const {
  const ssize_t got = core::ReadWhole(data_.get(), to, length, offset);
  return got == static_cast<ssize_t>(length) ? Status::Ok() : Status::FromErrno(Code::kSourceUnreadable);
}

bool CacheFile::Evict(uint32_t first, uint32_t count) {
  const auto end = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{first} + count, blocks_));
  if (first >= end) return true;
  const uint64_t start = uint64_t{first} * kCacheBlockBytes;
  const uint64_t stop = std::min<uint64_t>(uint64_t{end} * kCacheBlockBytes, size());
  if (!Lock(F_WRLCK, /*wait=*/false, start, stop - start)) return false;
  for (uint32_t block = first; block < end; block++) {
    map_->words[block / kBitsOfWord].fetch_and(~BitOf(block), std::memory_order_relaxed);
  }
  // A reader that checked the bits earlier notices here that it must check again.
  map_->evictions.fetch_add(1, std::memory_order_acq_rel);
  // Where the disk cannot punch holes, the space stays in use; the block is fetched again all the same.
  (void)!fallocate(data_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(start),
                   static_cast<off_t>(stop - start));
  Lock(F_UNLCK, /*wait=*/false, start, stop - start);
  return true;
}

}  // namespace keibi::remote
