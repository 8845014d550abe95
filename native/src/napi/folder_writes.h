// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <memory>

#include "disk/byte_range.h"
#include "remote/local_write.h"
#include "share/folder_writes.h"
#include "share/write_ledger.h"

namespace keibi::napi {

// Changes to one folder, for native/lib/folder-writes.ts, which has checked every argument. Disk access happens on pool
// threads.
class FolderWrites : public Napi::ObjectWrap<FolderWrites> {
 public:
  static Napi::Function Define(Napi::Env env);
  // (folder, the one shared file in it or '', path of the put journal or '')
  explicit FolderWrites(const Napi::CallbackInfo& info);

  // Null if `value` is undefined.
  static std::shared_ptr<share::WriteLedger> LedgerOf(const Napi::Value& value);

 private:
  Napi::Value Create(const Napi::CallbackInfo& info);
  Napi::Value MakeDirectory(const Napi::CallbackInfo& info);
  Napi::Value MakeSymlink(const Napi::CallbackInfo& info);
  Napi::Value Remove(const Napi::CallbackInfo& info);
  Napi::Value Rename(const Napi::CallbackInfo& info);
  Napi::Value Change(const Napi::CallbackInfo& info);
  Napi::Value Copy(const Napi::CallbackInfo& info);
  Napi::Value Get(const Napi::CallbackInfo& info);
  Napi::Value Set(const Napi::CallbackInfo& info);
  Napi::Value Unset(const Napi::CallbackInfo& info);
  Napi::Value List(const Napi::CallbackInfo& info);
  Napi::Value SyncDirectory(const Napi::CallbackInfo& info);
  Napi::Value Put(const Napi::CallbackInfo& info);

  const std::shared_ptr<share::FolderWrites> writes_;
  const std::shared_ptr<share::WriteLedger> ledger_;
};

// Arguments of a put, starting at `i`: base size (-1: none), base mtime, token, keep.
share::PutBase BaseAt(const Napi::CallbackInfo& info, size_t i);
// size, mtime, whether to sync.
share::Finish FinishAt(const Napi::CallbackInfo& info, size_t i);
// Offsets and lengths, alternating.
std::vector<disk::ByteRange> RangesAt(const Napi::CallbackInfo& info, size_t i);

}  // namespace keibi::napi
