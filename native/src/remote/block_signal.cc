// SPDX-License-Identifier: MPL-2.0
#include "remote/block_signal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/shared_word.h"
#include "platform/disk.h"

namespace keibi::remote {
namespace {

using core::Code;
using core::Status;

constexpr char kName[] = "block-signal";

}  // namespace

Status BlockSignal::Open(int directory, bool make, std::shared_ptr<BlockSignal>* signal) {
  const core::Fd file(openat(directory, kName, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600));
  if (!file.valid()) return Status::FromErrno(Code::kDestinationUnusable);
  if (make) {
    if (const Status status = platform::Reserve(file.get(), sizeof(Words)); !status.ok()) return status;
  }
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || found.st_size != sizeof(Words)) return Status::Of(Code::kDestinationUnusable);
  void* const mapped = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return Status::FromErrno(Code::kDestinationUnusable);
  signal->reset(new BlockSignal(static_cast<Words*>(mapped), found.st_dev, found.st_ino));
  return Status::Ok();
}

// While the file is mapped, no other file can get its inode number.
bool BlockSignal::IsIn(int directory) const {
  struct stat found {};
  return fstatat(directory, kName, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_dev == device_ &&
         found.st_ino == inode_;
}

BlockSignal::~BlockSignal() { munmap(words_, sizeof(Words)); }

// Sequentially consistent, as in Listen: either Notify sees the listener, or the listener sees the new blocks.
void BlockSignal::Notify() {
  words_->count.fetch_add(1);
  if (words_->listening.load() != 0) core::WakeWaiting(&words_->count);
}

uint32_t BlockSignal::Listen() {
  words_->listening.store(1);
  return words_->count.load();
}

void BlockSignal::Wait(uint32_t since, std::chrono::microseconds most) const {
  core::WaitForChange(&words_->count, since, most);
}

void BlockSignal::Ignore() { words_->listening.store(0); }

}  // namespace keibi::remote
