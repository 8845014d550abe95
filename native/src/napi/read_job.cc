// SPDX-License-Identifier: MPL-2.0
#include "remote/read_job.h"

#include <memory>
#include <optional>
#include <utility>

#include "napi/async.h"
#include "napi/errors.h"
#include "napi/guest_job.h"
#include "napi/module.h"

// ReadJob for native/lib/read-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using core::Status;

class ReadJob : public GuestJob<ReadJob, remote::ReadJob> {
 public:
  using GuestJob::GuestJob;

  static Napi::Function Define(Napi::Env env) {
    return GuestJob::Define(
        env, "ReadJob",
        {InstanceMethod<&ReadJob::Open>("open"), InstanceMethod<&ReadJob::Release>("release"),
         InstanceMethod<&ReadJob::LeaveAhead>("leaveAhead"), InstanceMethod<&ReadJob::Want>("want"),
         InstanceMethod<&ReadJob::Cancel>("cancel"), InstanceMethod<&ReadJob::AheadBlocks>("aheadBlocks"),
         InstanceMethod<&ReadJob::TakeNews>("takeNews")});
  }

  // (path, directory, key, size, mtime as a bigint) -> Promise<file>
  Napi::Value Open(const Napi::CallbackInfo& info) {
    remote::CacheIdentity identity;
    bool lossless = false;
    identity.size = static_cast<uint64_t>(info[3].As<Napi::Number>().Int64Value());
    identity.mtime_ns = info[4].As<Napi::BigInt>().Int64Value(&lossless);
    const auto file = std::make_shared<uint32_t>(0);
    return RunAsync(
        info.Env(),
        [job = shared_job(), path = info[0].As<Napi::String>().Utf8Value(),
         directory = info[1].As<Napi::String>().Utf8Value(), key = info[2].As<Napi::String>().Utf8Value(), identity,
         file] { return job->Open(path, directory, key, identity, file.get()); },
        [file](Napi::Env env) { return Napi::Number::New(env, *file); });
  }

  // (file)
  Napi::Value Release(const Napi::CallbackInfo& info) {
    job().Release(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // (file)
  Napi::Value LeaveAhead(const Napi::CallbackInfo& info) {
    job().LeaveAhead(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // (want, file, first, count, ahead) -> whether all blocks are cached
  Napi::Value Want(const Napi::CallbackInfo& info) {
    bool here = false;
    const Status status = job().Want(NumberAt(info, 0), NumberAt(info, 1), NumberAt(info, 2), NumberAt(info, 3),
                                     NumberAt(info, 4), &here);
    if (!status.ok()) Throw(info.Env(), status);
    return Napi::Boolean::New(info.Env(), here);
  }

  // (file, want)
  Napi::Value Cancel(const Napi::CallbackInfo& info) {
    job().Cancel(NumberAt(info, 0), NumberAt(info, 1));
    return info.Env().Undefined();
  }

  Napi::Value AheadBlocks(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), job().ahead_blocks());
  }

  // () -> { settled, codes, lanesEnded }: the settled wants, and for each an ErrorCode or ''
  Napi::Value TakeNews(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const remote::ReadNews news = job().TakeNews();
    Napi::Array settled = Napi::Array::New(env, news.settled.size());
    Napi::Array codes = Napi::Array::New(env, news.settled.size());
    for (uint32_t i = 0; i < news.settled.size(); i++) {
      const auto& [want, status] = news.settled[i];
      settled.Set(i, Napi::Number::New(env, want));
      codes.Set(i, Napi::String::New(env, status.ok() ? "" : CodeName(status.code)));
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("settled", settled);
    result.Set("codes", codes);
    result.Set("lanesEnded", EndsOf(env, news.lanes_ended));
    return result;
  }
};

}  // namespace

void InitReadJob(Napi::Env env, Napi::Object exports) { exports.Set("ReadJob", ReadJob::Define(env)); }

}  // namespace keibi::napi
