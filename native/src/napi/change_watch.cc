// SPDX-License-Identifier: MPL-2.0
#include "share/change_watch.h"

#include <memory>

#include "napi/errors.h"
#include "napi/job.h"
#include "napi/module.h"

// ChangeWatch for native/lib/change-watch.ts, which has checked every argument. All methods run on the JavaScript
// thread.
namespace keibi::napi {
namespace {

class ChangeWatch : public Napi::ObjectWrap<ChangeWatch> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "ChangeWatch",
                       {InstanceMethod<&ChangeWatch::Take>("take"), InstanceMethod<&ChangeWatch::Close>("close")});
  }

  // (folder, on wake)
  explicit ChangeWatch(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ChangeWatch>(info) {
    const Waker waker(info.Env(), info[1].As<Napi::Function>());
    watch_ = std::make_shared<share::ChangeWatch>(info[0].As<Napi::String>().Utf8Value(), waker.wake());
    end_ = JobEnd(info.Env(), waker, [watch = watch_] { watch->Stop(); });
  }

  // () -> { kinds, paths, watching, missed, trouble? }
  Napi::Value Take(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const share::Changes taken = watch_->Take();
    const auto count = static_cast<uint32_t>(taken.changes.size());
    Napi::Array kinds = Napi::Array::New(env, count), paths = Napi::Array::New(env, count);
    for (uint32_t i = 0; i < count; i++) {
      kinds.Set(i, Napi::Number::New(env, static_cast<double>(taken.changes[i].kind)));
      paths.Set(i, Napi::String::New(env, taken.changes[i].path));
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("kinds", kinds);
    result.Set("paths", paths);
    result.Set("watching", Napi::Boolean::New(env, taken.watching));
    result.Set("missed", Napi::Boolean::New(env, taken.missed));
    if (!taken.trouble.ok()) result.Set("trouble", MakeError(env, taken.trouble).Value());
    return result;
  }

  // () -> Promise, resolved when the watch's thread has ended
  Napi::Value Close(const Napi::CallbackInfo& info) { return end_.Close(info.Env()); }

 private:
  std::shared_ptr<share::ChangeWatch> watch_;
  JobEnd end_;
};

}  // namespace

void InitChangeWatch(Napi::Env env, Napi::Object exports) { exports.Set("ChangeWatch", ChangeWatch::Define(env)); }

}  // namespace keibi::napi
