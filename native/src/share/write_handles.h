// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "share/write_ledger.h"

namespace keibi::share {

// The files that one guest has open for writing in one session, by number (PROTOCOL 11.2). A number is used once. Any
// thread; may block.
class WriteHandles {
 public:
  static constexpr size_t kMostOpen = 256;

  // `locks`: the guest's; may be null.
  WriteHandles(ServedFolder folder, std::shared_ptr<WriteLedger> ledger, std::shared_ptr<LockTable> locks = nullptr)
      : folder_(std::move(folder)), ledger_(std::move(ledger)), locks_(std::move(locks)) {}

  // Errors as of WriteLedger::Open; kLimitExceeded beyond kMostOpen.
  core::Status Open(std::string_view path, const PutBase& base, uint32_t* handle);
  core::Status Write(uint32_t handle, uint64_t offset, const uint8_t* data, size_t bytes);
  core::Status Commit(uint32_t handle, const Finish& finish, std::vector<uint8_t>* entry);
  void Close(uint32_t handle);
  void CloseAll();  // and refuses new ones

 private:
  std::shared_ptr<WriteHandle> Find(uint32_t handle);
  std::shared_ptr<WriteHandle> Take(uint32_t handle);

  const ServedFolder folder_;
  const std::shared_ptr<WriteLedger> ledger_;
  const std::shared_ptr<LockTable> locks_;
  std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<WriteHandle>> files_;
  size_t opening_ = 0;
  uint32_t last_ = 0;
  bool closed_ = false;
};

}  // namespace keibi::share
