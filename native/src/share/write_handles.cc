// SPDX-License-Identifier: MPL-2.0
#include "share/write_handles.h"

#include <utility>

namespace keibi::share {

using core::Code;
using core::Status;

Status WriteHandles::Open(std::string_view path, const PutBase& base, uint32_t* handle) {
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return Status::Of(Code::kCancelled);
    if (files_.size() + opening_ >= kMostOpen || last_ == UINT32_MAX) return Status::Of(Code::kLimitExceeded);
    opening_++;
  }
  std::shared_ptr<WriteHandle> file;
  const Status status = ledger_->Open(folder_, path, base, &file, locks_);
  {
    const std::scoped_lock lock(mutex_);
    opening_--;
    if (!status.ok()) return status;
    if (!closed_) {
      *handle = ++last_;
      files_.emplace(*handle, std::move(file));
      return Status::Ok();
    }
  }
  ledger_->Close(file);
  return Status::Of(Code::kCancelled);
}

Status WriteHandles::Write(uint32_t handle, uint64_t offset, const uint8_t* data, size_t bytes) {
  const auto file = Find(handle);
  return file ? file->Write(offset, data, bytes) : Status::Of(Code::kCancelled);
}

Status WriteHandles::Commit(uint32_t handle, const Finish& finish, std::vector<uint8_t>* entry) {
  const auto file = Take(handle);
  return file ? ledger_->Commit(file, finish, entry) : Status::Of(Code::kCancelled);
}

void WriteHandles::Close(uint32_t handle) {
  if (const auto file = Take(handle)) ledger_->Close(file);
}

void WriteHandles::CloseAll() {
  std::map<uint32_t, std::shared_ptr<WriteHandle>> files;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    files.swap(files_);
  }
  for (const auto& [handle, file] : files) ledger_->Close(file);
}

std::shared_ptr<WriteHandle> WriteHandles::Find(uint32_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(handle);
  return found == files_.end() ? nullptr : found->second;
}

std::shared_ptr<WriteHandle> WriteHandles::Take(uint32_t handle) {
  const std::scoped_lock lock(mutex_);
  const auto taken = files_.extract(handle);
  return taken ? taken.mapped() : nullptr;
}

}  // namespace keibi::share
