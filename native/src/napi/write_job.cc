// SPDX-License-Identifier: MPL-2.0
#include "stream/write_job.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "napi/async.h"
#include "napi/errors.h"
#include "napi/folder_writes.h"
#include "napi/job.h"
#include "napi/module.h"
#include "napi/rate_budget.h"

// WriteJob for native/lib/write-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using core::Status;

uint32_t NumberAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::Number>().Uint32Value(); }

class WriteJob : public Napi::ObjectWrap<WriteJob> {
 public:
  // (rate budget or undefined, on wake)
  explicit WriteJob(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<WriteJob>(info), waker_(info.Env(), info[1].As<Napi::Function>()) {
    job_ = std::make_shared<stream::WriteJob>(RateBudget::From(info[0]), waker_.wake());
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

  // () -> how many sessions have ended
  Napi::Value Session(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), job_->session()); }

  // (number, secret)
  Napi::Value Fold(const Napi::CallbackInfo& info) {
    job_->Fold(NumberAt(info, 0), frame::Key(info[1].As<Napi::Uint8Array>().Data()));
    return info.Env().Undefined();
  }

  // (number)
  Napi::Value FoldReady(const Napi::CallbackInfo& info) {
    job_->FoldReady(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // (milliseconds)
  Napi::Value CutSilent(const Napi::CallbackInfo& info) {
    job_->CutSilent(std::chrono::milliseconds(NumberAt(info, 0)));
    return info.Env().Undefined();
  }

  // () -> [{ lane, bytes, rttMs, control }]
  Napi::Value Lanes(const Napi::CallbackInfo& info) { return StatesOf(info.Env(), job_->lanes()); }

  // (put, session, handle, directory, key, ranges)
  Napi::Value Begin(const Napi::CallbackInfo& info) {
    const Status status =
        job_->Begin(NumberAt(info, 0), NumberAt(info, 1), NumberAt(info, 2), info[3].As<Napi::String>().Utf8Value(),
                    info[4].As<Napi::String>().Utf8Value(), RangesAt(info, 5));
    if (!status.ok()) Throw(info.Env(), status);
    return info.Env().Undefined();
  }

  // (put)
  Napi::Value Cancel(const Napi::CallbackInfo& info) {
    job_->Cancel(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  Napi::Value Bytes(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(job_->bytes()));
  }

  // () -> { settled: [{ put, error or undefined }], lanesEnded }
  Napi::Value TakeNews(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const stream::WriteNews news = job_->TakeNews();
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
  std::shared_ptr<stream::WriteJob> job_;
};

}  // namespace

void InitWriteJob(Napi::Env env, Napi::Object exports) {
  exports.Set(
      "WriteJob",
      WriteJob::DefineClass(
          env, "WriteJob",
          {WriteJob::InstanceMethod<&WriteJob::AddLane>("addLane"),
           WriteJob::InstanceMethod<&WriteJob::EndSession>("endSession"),
           WriteJob::InstanceMethod<&WriteJob::Session>("session"), WriteJob::InstanceMethod<&WriteJob::Fold>("fold"),
           WriteJob::InstanceMethod<&WriteJob::FoldReady>("foldReady"),
           WriteJob::InstanceMethod<&WriteJob::CutSilent>("cutSilent"),
           WriteJob::InstanceMethod<&WriteJob::Lanes>("lanes"), WriteJob::InstanceMethod<&WriteJob::Begin>("begin"),
           WriteJob::InstanceMethod<&WriteJob::Cancel>("cancel"), WriteJob::InstanceMethod<&WriteJob::Bytes>("bytes"),
           WriteJob::InstanceMethod<&WriteJob::TakeNews>("takeNews"),
           WriteJob::InstanceMethod<&WriteJob::Close>("close")}));
}

}  // namespace keibi::napi
