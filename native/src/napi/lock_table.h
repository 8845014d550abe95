// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <memory>

#include "share/lock_table.h"

namespace keibi::napi {

// The locks of one guest, for native/lib/lock-table.ts, which has checked every argument. Disk access happens on pool
// threads.
class LockTable : public Napi::ObjectWrap<LockTable> {
 public:
  static Napi::Function Define(Napi::Env env);
  // (folder, the one shared file in it or '', folder writes)
  explicit LockTable(const Napi::CallbackInfo& info);

  // Null if `value` is undefined.
  static std::shared_ptr<share::LockTable> From(const Napi::Value& value);

 private:
  Napi::Value Lock(const Napi::CallbackInfo& info);
  Napi::Value Unlock(const Napi::CallbackInfo& info);
  Napi::Value Test(const Napi::CallbackInfo& info);
  Napi::Value Refused(const Napi::CallbackInfo& info);
  Napi::Value Close(const Napi::CallbackInfo& info);

  const std::shared_ptr<share::LockRoom> room_;
  const std::shared_ptr<share::LockTable> table_;
};

}  // namespace keibi::napi
