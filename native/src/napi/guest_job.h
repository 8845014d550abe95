// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <chrono>
#include <memory>
#include <vector>

#include "napi/async.h"
#include "napi/job.h"
#include "napi/rate_budget.h"
#include "net/lane_acceptor.h"

namespace keibi::napi {

// The methods that native/lib/guest-job.ts calls on a job with a guest's lanes; it has checked every argument. All
// methods run on the JavaScript thread.
template <typename Derived, typename Job>
class GuestJob : public Napi::ObjectWrap<Derived> {
 public:
  // (rate budget or undefined, on wake)
  explicit GuestJob(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Derived>(info) {
    const Waker waker(info.Env(), info[1].As<Napi::Function>());
    job_ = std::make_shared<Job>(RateBudget::From(info[0]), waker.wake());
    end_ = JobEnd(info.Env(), waker, [job = job_] { job->Stop(); });
  }

  // (host, port, lane, session id, lane secret, suite bit, relay token or undefined, own port or undefined) -> Promise
  Napi::Value AddLane(const Napi::CallbackInfo& info) {
    const auto session =
        std::make_shared<net::ExpectedLanes>(LanesFrom(info[3], info[4], info[5], frame::Role::kInitiator));
    return RunAsync(info.Env(), [job = job_, place = PlaceFrom(info), lane = NumberAt(info, 2), session] {
      return job->AddLane(place, lane, *session);
    });
  }

  // () -> Promise
  Napi::Value EndSession(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [job = job_] {
      job->EndSession();
      return core::Status::Ok();
    });
  }

  // (number, secret)
  Napi::Value Rekey(const Napi::CallbackInfo& info) {
    job_->Rekey(NumberAt(info, 0), frame::Key(info[1].As<Napi::Uint8Array>().Data()));
    return info.Env().Undefined();
  }

  // (milliseconds)
  Napi::Value CutSilent(const Napi::CallbackInfo& info) {
    job_->CutSilent(std::chrono::milliseconds(NumberAt(info, 0)));
    return info.Env().Undefined();
  }

  // () -> [{ lane, bytes, rttMs, control }]
  Napi::Value Lanes(const Napi::CallbackInfo& info) { return StatesOf(info.Env(), job_->lanes()); }

  Napi::Value Bytes(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(job_->bytes()));
  }

  // () -> Promise, resolved when all threads have ended
  Napi::Value Close(const Napi::CallbackInfo& info) { return end_.Close(info.Env()); }

 protected:
  using Method = Napi::ClassPropertyDescriptor<Derived>;

  // Defines the class with these methods and the common ones.
  static Napi::Function Define(Napi::Env env, const char* name, std::vector<Method> methods) {
    for (const Method& common :
         {Derived::InstanceMethod("addLane", &Derived::AddLane),
          Derived::InstanceMethod("endSession", &Derived::EndSession),
          Derived::InstanceMethod("rekey", &Derived::Rekey), Derived::InstanceMethod("cutSilent", &Derived::CutSilent),
          Derived::InstanceMethod("lanes", &Derived::Lanes), Derived::InstanceMethod("bytes", &Derived::Bytes),
          Derived::InstanceMethod("close", &Derived::Close)}) {
      methods.push_back(common);
    }
    return Derived::DefineClass(env, name, methods);
  }

  Job& job() { return *job_; }
  // For work on another thread.
  const std::shared_ptr<Job>& shared_job() { return job_; }

 private:
  std::shared_ptr<Job> job_;
  JobEnd end_;
};

}  // namespace keibi::napi
