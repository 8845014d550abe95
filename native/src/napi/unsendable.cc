// SPDX-License-Identifier: MPL-2.0
#include "send/unsendable.h"

#include <memory>

#include "napi/async.h"
#include "napi/module.h"

// findUnsendable for native/lib/unsendable.ts, which has checked every argument.
namespace keibi::napi {
namespace {

// (path, name, beneath) -> Promise<{ count, names }>
Napi::Value FindUnsendable(const Napi::CallbackInfo& info) {
  const send::Root root{info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value(), 0,
                        info[2].As<Napi::String>().Utf8Value()};
  const auto found = std::make_shared<send::Unsendable>();
  return RunAsync(
      info.Env(),
      [root, found] {
        *found = send::FindUnsendable(root);
        return core::Status::Ok();
      },
      [found](Napi::Env env) {
        Napi::Array names = Napi::Array::New(env, found->first.size());
        for (uint32_t i = 0; i < found->first.size(); i++) names.Set(i, Napi::String::New(env, found->first[i]));
        Napi::Object result = Napi::Object::New(env);
        result.Set("count", Napi::Number::New(env, static_cast<double>(found->count)));
        result.Set("names", names);
        return result;
      });
}

}  // namespace

void InitUnsendable(Napi::Env env, Napi::Object exports) {
  exports.Set("findUnsendable", Napi::Function::New<&FindUnsendable>(env));
}

}  // namespace keibi::napi
