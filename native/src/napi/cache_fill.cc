// SPDX-License-Identifier: MPL-2.0
#include "remote/cache_fill.h"

#include <memory>

#include "napi/async.h"
#include "napi/module.h"

// fillCache for native/lib/cache-fill.ts, which has checked every argument. Disk access happens on pool threads.
namespace keibi::napi {
namespace {

// (folder, path, directory, key, size, mtimeNs, first, count) -> Promise
Napi::Value FillCache(const Napi::CallbackInfo& info) {
  const auto text = [&](size_t i) { return info[i].As<Napi::String>().Utf8Value(); };
  const auto number = [&](size_t i) { return info[i].As<Napi::Number>(); };
  bool lossless;
  const auto fill = std::make_shared<remote::CacheFill>(remote::CacheFill{
      text(0),
      text(1),
      text(2),
      text(3),
      {static_cast<uint64_t>(number(4).Int64Value()), info[5].As<Napi::BigInt>().Int64Value(&lossless)},
      number(6).Uint32Value(),
      number(7).Uint32Value()});
  return RunAsync(info.Env(), [fill] { return remote::FillCache(*fill); });
}

}  // namespace

void InitCacheFill(Napi::Env env, Napi::Object exports) {
  exports.Set("fillCache", Napi::Function::New(env, FillCache));
}

}  // namespace keibi::napi
