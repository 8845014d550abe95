// SPDX-License-Identifier: MPL-2.0
#include "remote/write_job.h"

#include <memory>
#include <string>
#include <utility>

#include "napi/async.h"
#include "napi/errors.h"
#include "napi/folder_writes.h"
#include "napi/guest_job.h"
#include "napi/module.h"

// WriteJob for native/lib/write-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using core::Status;

class WriteJob : public GuestJob<WriteJob, remote::WriteJob> {
 public:
  using GuestJob::GuestJob;

  static Napi::Function Define(Napi::Env env) {
    return GuestJob::Define(
        env, "WriteJob",
        {InstanceMethod<&WriteJob::Session>("session"), InstanceMethod<&WriteJob::RekeyReady>("rekeyReady"),
         InstanceMethod<&WriteJob::Begin>("begin"), InstanceMethod<&WriteJob::Cancel>("cancel"),
         InstanceMethod<&WriteJob::TakeNews>("takeNews")});
  }

  // () -> number of sessions that have ended
  Napi::Value Session(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), job().session()); }

  // (number)
  Napi::Value RekeyReady(const Napi::CallbackInfo& info) {
    job().RekeyReady(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // (put, session, handle, directory, key, ranges)
  Napi::Value Begin(const Napi::CallbackInfo& info) {
    const Status status =
        job().Begin(NumberAt(info, 0), NumberAt(info, 1), NumberAt(info, 2), info[3].As<Napi::String>().Utf8Value(),
                    info[4].As<Napi::String>().Utf8Value(), RangesAt(info, 5));
    if (!status.ok()) Throw(info.Env(), status);
    return info.Env().Undefined();
  }

  // (put)
  Napi::Value Cancel(const Napi::CallbackInfo& info) {
    job().Cancel(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // () -> { settled: [{ put, error or undefined }], lanesEnded }
  Napi::Value TakeNews(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const remote::WriteNews news = job().TakeNews();
    Napi::Array settled = Napi::Array::New(env, news.settled.size());
    for (uint32_t i = 0; i < news.settled.size(); i++) {
      const auto& [put, status] = news.settled[i];
      Napi::Object one = Napi::Object::New(env);
      one.Set("put", Napi::Number::New(env, put));
      if (!status.ok()) one.Set("error", MakeError(env, status).Value());
      settled.Set(i, one);
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("settled", settled);
    result.Set("lanesEnded", EndsOf(env, news.lanes_ended));
    return result;
  }
};

}  // namespace

void InitWriteJob(Napi::Env env, Napi::Object exports) { exports.Set("WriteJob", WriteJob::Define(env)); }

}  // namespace keibi::napi
