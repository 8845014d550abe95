// SPDX-License-Identifier: MPL-2.0
#include "stream/read_job.h"

#include <memory>
#include <optional>
#include <utility>

#include "napi/async.h"
#include "napi/errors.h"
#include "napi/job.h"
#include "napi/module.h"
#include "napi/rate_budget.h"

// ReadJob for native/lib/read-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using core::Status;

uint32_t NumberAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::Number>().Uint32Value(); }

class ReadJob : public Napi::ObjectWrap<ReadJob> {
 public:
  // (rate budget or undefined, on wake)
  explicit ReadJob(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<ReadJob>(info), waker_(info.Env(), info[1].As<Napi::Function>()) {
    job_ = std::make_shared<stream::ReadJob>(RateBudget::From(info[0]), waker_.wake());
    hook_ = info.Env().AddCleanupHook(std::function<void()>([job = job_, waker = waker_]() mutable {
      job->Stop();
      waker.Release();
    }));
  }

  // (host, port, lane, session id, lane secret, suite bit, relay token or undefined, own port or undefined) -> Promise
  Napi::Value AddLane(const Napi::CallbackInfo& info) {
    const auto session =
        std::make_shared<stream::ExpectedLanes>(LanesFrom(info[3], info[4], info[5], frame::Role::kInitiator));
    return RunAsync(info.Env(), [job = job_, place = PlaceFrom(info), lane = NumberAt(info, 2), session] {
      return job->AddLane(place, lane, *session);
    });
  }

  // () -> Promise
  Napi::Value EndSession(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [job = job_] {
      job->EndSession();
      return Status::Ok();
    });
  }

  // (number, secret)
  Napi::Value Fold(const Napi::CallbackInfo& info) {
    job_->Fold(NumberAt(info, 0), frame::Key(info[1].As<Napi::Uint8Array>().Data()));
    return info.Env().Undefined();
  }

  // (milliseconds)
  Napi::Value CutSilent(const Napi::CallbackInfo& info) {
    job_->CutSilent(std::chrono::milliseconds(NumberAt(info, 0)));
    return info.Env().Undefined();
  }

  // () -> [{ lane, bytes, rttMs, control }]
  Napi::Value Lanes(const Napi::CallbackInfo& info) { return StatesOf(info.Env(), job_->lanes()); }

  // (path, directory, key, size, mtime as a bigint) -> Promise<file>
  Napi::Value Open(const Napi::CallbackInfo& info) {
    stream::CacheIdentity identity;
    bool lossless = false;
    identity.size = static_cast<uint64_t>(info[3].As<Napi::Number>().Int64Value());
    identity.mtime_ns = info[4].As<Napi::BigInt>().Int64Value(&lossless);
    const auto file = std::make_shared<uint32_t>(0);
    return RunAsync(
        info.Env(),
        [job = job_, path = info[0].As<Napi::String>().Utf8Value(), directory = info[1].As<Napi::String>().Utf8Value(),
         key = info[2].As<Napi::String>().Utf8Value(), identity,
         file] { return job->Open(path, directory, key, identity, file.get()); },
        [file](Napi::Env env) { return Napi::Number::New(env, *file); });
  }

  // (file)
  Napi::Value Release(const Napi::CallbackInfo& info) {
    job_->Release(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // (want, file, first, count, ahead) -> whether all is here
  Napi::Value Want(const Napi::CallbackInfo& info) {
    bool here = false;
    const Status status = job_->Want(NumberAt(info, 0), NumberAt(info, 1), NumberAt(info, 2), NumberAt(info, 3),
                                     NumberAt(info, 4), &here);
    if (!status.ok()) Throw(info.Env(), status);
    return Napi::Boolean::New(info.Env(), here);
  }

  // (file, want)
  Napi::Value Cancel(const Napi::CallbackInfo& info) {
    job_->Cancel(NumberAt(info, 0), NumberAt(info, 1));
    return info.Env().Undefined();
  }

  Napi::Value AheadBlocks(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), job_->ahead_blocks());
  }

  Napi::Value Bytes(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(job_->bytes()));
  }

  // () -> { settled, codes, lanesEnded }: wants, and for each an ErrorCode or ''
  Napi::Value TakeNews(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const stream::ReadNews news = job_->TakeNews();
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

  // () -> Promise, once all threads have ended
  Napi::Value Close(const Napi::CallbackInfo& info) {
    waker_.Release();
    if (!std::exchange(closed_, true)) hook_.Remove(info.Env());
    return RunAsync(info.Env(), [job = job_] {
      job->Stop();
      return Status::Ok();
    });
  }

 private:
  Waker waker_;
  CleanupHook hook_;
  bool closed_ = false;
  std::shared_ptr<stream::ReadJob> job_;
};

}  // namespace

void InitReadJob(Napi::Env env, Napi::Object exports) {
  exports.Set(
      "ReadJob",
      ReadJob::DefineClass(
          env, "ReadJob",
          {ReadJob::InstanceMethod<&ReadJob::AddLane>("addLane"),
           ReadJob::InstanceMethod<&ReadJob::EndSession>("endSession"), ReadJob::InstanceMethod<&ReadJob::Fold>("fold"),
           ReadJob::InstanceMethod<&ReadJob::CutSilent>("cutSilent"), ReadJob::InstanceMethod<&ReadJob::Lanes>("lanes"),
           ReadJob::InstanceMethod<&ReadJob::Open>("open"), ReadJob::InstanceMethod<&ReadJob::Release>("release"),
           ReadJob::InstanceMethod<&ReadJob::Want>("want"), ReadJob::InstanceMethod<&ReadJob::Cancel>("cancel"),
           ReadJob::InstanceMethod<&ReadJob::AheadBlocks>("aheadBlocks"),
           ReadJob::InstanceMethod<&ReadJob::Bytes>("bytes"), ReadJob::InstanceMethod<&ReadJob::TakeNews>("takeNews"),
           ReadJob::InstanceMethod<&ReadJob::Close>("close")}));
}

}  // namespace keibi::napi
