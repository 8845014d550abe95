// SPDX-License-Identifier: MPL-2.0
#include "mount/overlay_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/limits.h"
#include "core/whole_io.h"
#include "mount/host_messages.h"
#include "platform/write_at.h"

namespace keibi::mount {
namespace {

using remote::CacheFile;
using remote::kCacheBlockBytes;

constexpr size_t kMostOverlayRanges = size_t{1} << 17;
constexpr size_t kCopyBytes = size_t{1} << 20;

std::string NewToken() {
  std::array<uint8_t, 16> random;
  for (size_t got = 0; got < random.size();) {
    const ssize_t some = getrandom(random.data() + got, random.size() - got, 0);
    if (some > 0) got += static_cast<size_t>(some);
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const uint8_t byte : random) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

int WriteAll(int fd, uint64_t offset, const uint8_t* bytes, size_t length) {
  return core::WriteWhole(fd, bytes, length, offset) ? 0 : errno;
}

int ReadAll(int fd, uint64_t offset, uint8_t* to, size_t length) {
  return core::ReadWhole(fd, to, length, offset) == static_cast<ssize_t>(length) ? 0 : EIO;
}

}  // namespace

int OverlayFile::Open(int directory, const FileVersion& base, std::shared_ptr<CacheFile> content,
                      std::atomic<uint64_t>* dirty, std::shared_ptr<OverlayFile>* overlay) {
  std::shared_ptr<OverlayFile> opened(new OverlayFile(directory, base, dirty));
  const std::string name = opened->token_ + ".data";
  opened->file_ = core::Fd(openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!opened->file_.valid()) return errno == ENOSPC ? ENOSPC : EIO;
  if (content != nullptr) opened->contents_.Add(base, std::move(content));
  *overlay = std::move(opened);
  return 0;
}

OverlayFile::OverlayFile(int directory, const FileVersion& base, std::atomic<uint64_t>* dirty)
    : directory_(directory),
      token_(NewToken()),
      origin_(base),
      base_(base),
      now_(base),
      hold_(base.size),
      changes_(base.size, dirty) {}

OverlayFile::~OverlayFile() {
  if (mine_ && file_.valid()) unlinkat(directory_, (token_ + ".data").c_str(), 0);
}

FileVersion OverlayFile::version() const {
  const std::scoped_lock lock(mutex_);
  return now_;
}

FileVersion OverlayFile::base() const {
  const std::scoped_lock lock(mutex_);
  return base_;
}

int OverlayFile::Write(uint64_t offset, const uint8_t* bytes, size_t length, int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  return WriteAt(offset, bytes, length, now_ns);
}

int OverlayFile::Append(const uint8_t* bytes, size_t length, int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  return WriteAt(now_.size, bytes, length, now_ns);
}

int OverlayFile::WriteAt(uint64_t offset, const uint8_t* bytes, size_t length, int64_t now_ns) {
  if (length == 0) return 0;
  if (offset > core::kMaxSparseBytes || length > core::kMaxSparseBytes - offset) return EFBIG;
  if (const int error = WriteAll(file_.get(), offset, bytes, length); error != 0) return error;
  overlay_.Add(offset, offset + length);
  now_ = {std::max(now_.size, offset + length), now_ns};
  changes_.Write(offset, offset + length);
  return 0;
}

int OverlayFile::Truncate(uint64_t size, int64_t now_ns) {
  if (size > core::kMaxSparseBytes) return EFBIG;
  const std::scoped_lock lock(mutex_);
  overlay_.Cut(size);
  hold_ = std::min(hold_, size);
  now_ = {size, now_ns};
  changes_.Truncate(size);
  // A pending put still reads its bytes from the file.
  if (overlay_.empty() && !changes_.IsPutting()) (void)!ftruncate(file_.get(), 0);
  return 0;
}

void OverlayFile::SetMtime(int64_t mtime_ns) {
  const std::scoped_lock lock(mutex_);
  now_.mtime_ns = mtime_ns;
  changes_.SetMtime();
}

bool OverlayFile::Read(uint64_t offset, uint8_t* to, size_t length, size_t* read, Missing* missing, int* error) {
  const std::scoped_lock lock(mutex_);
  *error = 0;
  *read = offset >= now_.size ? 0 : std::min<uint64_t>(length, now_.size - offset);
  const uint64_t stop = offset + *read;
  for (uint64_t at = offset; at < stop && *error == 0;) {
    uint64_t first = stop, end = stop;
    overlay_.First(at, stop, &first, &end);
    if (const uint64_t held = std::min(first, std::max(at, hold_)); at < held) {
      if (!contents_.Read(at, held, to + (at - offset), error)) {
        missing->of = base_;
        missing->content = contents_.Newest(base_);
        missing->first = static_cast<uint32_t>(at / remote::kCacheBlockBytes);
        missing->end =
            static_cast<uint32_t>((std::min(stop, hold_) + remote::kCacheBlockBytes - 1) / remote::kCacheBlockBytes);
        return false;
      }
      at = held;
    }
    if (at < first) std::memset(to + (at - offset), 0, first - at);
    if (first < end && *error == 0) *error = ReadAll(file_.get(), first, to + (first - offset), end - first);
    at = end;
  }
  return true;
}

void OverlayFile::AddContent(const FileVersion& of, std::shared_ptr<CacheFile> content) {
  const std::scoped_lock lock(mutex_);
  if (of == base_) contents_.Add(of, std::move(content));
}

bool OverlayFile::NeedsPut(bool sync) const {
  const std::scoped_lock lock(mutex_);
  return changes_.NeedsPut(sync);
}

uint64_t OverlayFile::changes() const {
  const std::scoped_lock lock(mutex_);
  return changes_.changes();
}

uint64_t OverlayFile::put_changes() const {
  const std::scoped_lock lock(mutex_);
  return changes_.put_changes();
}

uint64_t OverlayFile::unsent_bytes() const {
  const std::scoped_lock lock(mutex_);
  return changes_.unsent().bytes();
}

size_t OverlayFile::unsent_ranges() const {
  const std::scoped_lock lock(mutex_);
  return changes_.unsent().count();
}

bool OverlayFile::Begin(bool sync, uint64_t most_bytes, Put* put) {
  const std::scoped_lock lock(mutex_);
  return changes_.Begin(base_, now_, sync, most_bytes, put);
}

void OverlayFile::Done(const Put& put, const FileVersion& left) {
  const std::scoped_lock lock(mutex_);
  base_ = {put.now.size, left.mtime_ns};
  // The other side may store coarser times than ours.
  if (now_ == put.now) now_ = base_;
  changes_.Done(put);
}

void OverlayFile::Failed(const Put& put) {
  const std::scoped_lock lock(mutex_);
  changes_.Failed(put);
}

void OverlayFile::GiveUp() {
  const std::scoped_lock lock(mutex_);
  changes_.GiveUp();
}

void OverlayFile::SetUnsynced() {
  const std::scoped_lock lock(mutex_);
  changes_.SetUnsynced();
}

bool OverlayFile::TakeIn(int* error) {
  bool all = true;
  std::vector<uint8_t> buffer(kCopyBytes);
  for (uint64_t at = 0; at < hold_ && *error == 0;) {
    uint64_t first = hold_, end = hold_;
    overlay_.First(at, hold_, &first, &end);
    for (uint64_t stop; at < first && *error == 0; at = stop) {
      stop = std::min(first, (at / remote::kCacheBlockBytes + 1) * remote::kCacheBlockBytes);
      if (!contents_.Read(at, stop, buffer.data(), error)) {
        all = false;
        continue;
      }
      if (*error == 0) *error = WriteAll(file_.get(), at, buffer.data(), stop - at);
      if (*error == 0) overlay_.Add(at, stop);
    }
    at = end;
  }
  return all && *error == 0;
}

int OverlayFile::MoveTo(const FileVersion& base, bool theirs) {
  const std::scoped_lock lock(mutex_);
  int error = 0;
  TakeIn(&error);
  if (error != 0) return error;
  base_ = base;
  contents_.Clear();
  hold_ = theirs ? std::min(hold_, base.size) : 0;
  changes_.Restart(overlay_, hold_);
  return 0;
}

void OverlayFile::Shrink(uint64_t most_bytes) {
  const std::scoped_lock lock(mutex_);
  if (changes_.IsPutting() || (overlay_.bytes() <= most_bytes && overlay_.count() <= kMostOverlayRanges)) return;
  overlay_ = changes_.unsent();
  hold_ = changes_.keep();
  contents_.Clear();
  uint64_t at = 0;
  for (const auto& [from, end] : overlay_.map()) {
    Zero(at, from);
    at = end;
  }
  (void)!ftruncate(file_.get(), static_cast<off_t>(at));
}

bool OverlayFile::Zero(uint64_t from, uint64_t end) {
  if (from >= end) return true;
  if (fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                static_cast<off_t>(end - from)) == 0)
    return true;
  return platform::WriteZeros(file_.get(), from, end).ok();
}

bool OverlayFile::Complete(uint64_t most_bytes) {
  const std::scoped_lock lock(mutex_);
  if (changes_.IsPutting() || changes_.changed() || now_.size == 0) return false;
  int error = 0;
  if (!overlay_.Covers(0, hold_) && (now_.size > most_bytes || !TakeIn(&error))) return false;
  return Extend();
}

void OverlayFile::Leave(bool* complete) {
  const std::scoped_lock lock(mutex_);
  int error = 0;
  const bool all = overlay_.Covers(0, hold_) || (now_.size <= uint64_t{rules::kWholeUnsentBytes} && TakeIn(&error));
  *complete = Extend() && all && error == 0;
  mine_ = false;
}

bool OverlayFile::Extend() {
  for (uint64_t at = hold_; at < now_.size;) {
    uint64_t first = now_.size, end = now_.size;
    overlay_.First(at, now_.size, &first, &end);
    if (!Zero(at, first)) return false;
    at = end;
  }
  return ftruncate(file_.get(), static_cast<off_t>(now_.size)) == 0;
}

}  // namespace keibi::mount
