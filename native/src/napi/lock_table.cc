// SPDX-License-Identifier: MPL-2.0
#include "napi/lock_table.h"

#include <algorithm>
#include <optional>
#include <string>

#include "napi/async.h"
#include "napi/folder_writes.h"
#include "napi/job.h"
#include "napi/module.h"

namespace keibi::napi {
namespace {

constexpr napi_type_tag kLockTableTag = {0x5e31b8f2a94c4d06, 0x93c7d1e06f2a58b4};

using core::Status;

// An end of -1 is the end of the file, however long it is.
platform::LockSpan SpanAt(const Napi::CallbackInfo& info, size_t i) {
  const int64_t end = info[i + 1].As<Napi::Number>().Int64Value();
  return {static_cast<uint64_t>(info[i].As<Napi::Number>().Int64Value()),
          end < 0 ? platform::kLockEnd : static_cast<uint64_t>(end)};
}

// owner, whether it locks like flock(2), kind, start, end.
share::WantedLock WantedAt(const Napi::CallbackInfo& info, size_t i) {
  share::WantedLock wanted;
  std::copy_n(info[i].As<Napi::Uint8Array>().Data(), wanted.owner.id.size(), wanted.owner.id.data());
  wanted.owner.whole = info[i + 1].As<Napi::Boolean>().Value();
  wanted.kind = static_cast<platform::LockKind>(info[i + 2].As<Napi::Number>().Uint32Value());
  wanted.span = SpanAt(info, i + 3);
  return wanted;
}

}  // namespace

Napi::Function LockTable::Define(Napi::Env env) {
  return DefineClass(env, "LockTable",
                     {InstanceMethod<&LockTable::Lock>("lock"), InstanceMethod<&LockTable::Unlock>("unlock"),
                      InstanceMethod<&LockTable::Test>("test"), InstanceMethod<&LockTable::Refused>("refused"),
                      InstanceMethod<&LockTable::Close>("close")});
}

LockTable::LockTable(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<LockTable>(info),
      room_(FolderWrites::LedgerOf(info[2])->lock_room()),
      table_(std::make_shared<share::LockTable>(share::ServedFolder{TextAt(info, 0), TextAt(info, 1)}, room_)) {
  info.This().As<Napi::Object>().TypeTag(&kLockTableTag);
}

std::shared_ptr<share::LockTable> LockTable::From(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kLockTableTag)) return nullptr;
  return Unwrap(value.As<Napi::Object>())->table_;
}

// (path, owner, whole, kind, start, end) -> Promise<{ holder, entry }>; an empty entry means another owner's lock
// conflicts
Napi::Value LockTable::Lock(const Napi::CallbackInfo& info) {
  const auto granted = std::make_shared<share::GrantedLock>();
  return RunAsync(
      info.Env(),
      [table = table_, path = TextAt(info, 0), wanted = WantedAt(info, 1), granted] {
        return table->Lock(path, wanted, granted.get());
      },
      [granted](Napi::Env env) {
        Napi::Object result = Napi::Object::New(env);
        result.Set("holder", Napi::Number::New(env, granted->holder));
        result.Set("entry", BytesOf(env, granted->entry.data(), granted->entry.size()));
        return result;
      });
}

// (holder, start, end) -> Promise<whether the holder has other locks>
Napi::Value LockTable::Unlock(const Napi::CallbackInfo& info) {
  const auto left = std::make_shared<bool>(false);
  return RunAsync(
      info.Env(),
      [table = table_, holder = info[0].As<Napi::Number>().Uint32Value(), span = SpanAt(info, 1), left] {
        *left = table->Unlock(holder, span);
        return Status::Ok();
      },
      [left](Napi::Env env) { return Napi::Boolean::New(env, *left); });
}

// (path, owner, whole, kind, start, end) -> Promise<[kind, start, end] or undefined>
Napi::Value LockTable::Test(const Napi::CallbackInfo& info) {
  const auto found = std::make_shared<std::optional<platform::LockRanges::Range>>();
  return RunAsync(
      info.Env(),
      [table = table_, path = TextAt(info, 0), wanted = WantedAt(info, 1), found] {
        return table->Test(path, wanted, found.get());
      },
      [found](Napi::Env env) -> Napi::Value {
        if (!found->has_value()) return env.Undefined();
        const auto& [span, kind] = **found;
        const double end = span.end == platform::kLockEnd ? -1.0 : static_cast<double>(span.end);
        Napi::Array result = Napi::Array::New(env, 3);
        result.Set(uint32_t{0}, Napi::Number::New(env, static_cast<uint32_t>(kind)));
        result.Set(uint32_t{1}, Napi::Number::New(env, static_cast<double>(span.from)));
        result.Set(uint32_t{2}, Napi::Number::New(env, end));
        return result;
      });
}

// () -> locks of all the folder's guests that were refused because of the limit
Napi::Value LockTable::Refused(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(room_->refused.load()));
}

// () -> Promise
Napi::Value LockTable::Close(const Napi::CallbackInfo& info) {
  return RunAsync(info.Env(), [table = table_] {
    table->Close();
    return Status::Ok();
  });
}

void InitLockTable(Napi::Env env, Napi::Object exports) { exports.Set("LockTable", LockTable::Define(env)); }

}  // namespace keibi::napi
