// SPDX-License-Identifier: MPL-2.0
#include "stream/send_job.h"

#include "napi/async.h"
#include "napi/errors.h"
#include "napi/job.h"
#include "napi/listener.h"
#include "napi/module.h"
#include "napi/rate_budget.h"
#include "stream/digest.h"

// SendJob for native/lib/send-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using core::Status;
using stream::EntryTable;

class SendJob : public Napi::ObjectWrap<SendJob> {
 public:
  // (roots [path, name, …], rate budget or undefined, on wake)
  explicit SendJob(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<SendJob>(info), waker_(info.Env(), info[2].As<Napi::Function>()) {
    stream::SendOptions options;
    const auto roots = info[0].As<Napi::Array>();
    for (uint32_t i = 0; i + 1 < roots.Length(); i += 2) {
      options.roots.push_back(
          {roots.Get(i).As<Napi::String>().Utf8Value(), roots.Get(i + 1).As<Napi::String>().Utf8Value()});
    }
    options.budget = RateBudget::From(info[1]);
    job_ = std::make_shared<stream::SendJob>(std::move(options), waker_.wake());
    hook_ = info.Env().AddCleanupHook(std::function<void()>([job = job_, waker = waker_]() mutable {
      job->Stop();
      waker.Release();
    }));
  }

  Napi::Value Start(const Napi::CallbackInfo& info) {
    job_->Start();
    return info.Env().Undefined();
  }

  // (listener, session id, lane secret, suite bit)
  Napi::Value ExpectLanes(const Napi::CallbackInfo& info) {
    listener_ = Listener::From(info[0])->listener();
    stream::ExpectedLanes lanes = LanesFrom(info[1], info[2], info[3], frame::Role::kResponder);
    session_id_ = lanes.session_id;
    listener_->Expect(std::move(lanes), job_);
    return info.Env().Undefined();
  }

  // () -> { pages, problems, walked?, lanesClosed }
  Napi::Value TakeNews(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const stream::SendNews news = job_->TakeNews();
    Napi::Array pages = Napi::Array::New(env, news.pages.size());
    for (uint32_t i = 0; i < news.pages.size(); i++) pages.Set(i, PageOf(env, news.pages[i]));
    Napi::Array problems = Napi::Array::New(env, news.problems.size());
    for (uint32_t i = 0; i < news.problems.size(); i++) {
      const stream::WalkProblem& problem = news.problems[i];
      problems.Set(i, ProblemOf(env, problem.entry, problem.status, problem.path));
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("pages", pages);
    result.Set("problems", problems);
    result.Set("lanesClosed", CodesOf(env, news.lanes_closed));
    if (news.walked) result.Set("walked", TotalsOf(env, *news.walked));
    return result;
  }

  // (first, count, wanted, entries of partials, their bitmaps)
  Napi::Value Answer(const Napi::CallbackInfo& info) {
    const auto wanted = info[2].As<Napi::Uint8Array>();
    const auto entries = info[3].As<Napi::Array>(), bitmaps = info[4].As<Napi::Array>();
    std::vector<std::pair<uint32_t, std::vector<uint8_t>>> partials;
    for (uint32_t i = 0; i < entries.Length(); i++) {
      const auto bitmap = bitmaps.Get(i).As<Napi::Uint8Array>();
      partials.emplace_back(entries.Get(i).As<Napi::Number>().Uint32Value(),
                            std::vector<uint8_t>(bitmap.Data(), bitmap.Data() + bitmap.ByteLength()));
    }
    const Status status =
        job_->Answer(info[0].As<Napi::Number>().Uint32Value(), info[1].As<Napi::Number>().Uint32Value(), wanted.Data(),
                     wanted.ByteLength(), partials);
    if (!status.ok()) Throw(info.Env(), status);
    return info.Env().Undefined();
  }

  // (number, secret)
  Napi::Value Fold(const Napi::CallbackInfo& info) {
    job_->Fold(info[0].As<Napi::Number>().Uint32Value(), frame::Key(info[1].As<Napi::Uint8Array>().Data()));
    return info.Env().Undefined();
  }

  Napi::Value Drop(const Napi::CallbackInfo& info) {
    job_->Drop(info[0].As<Napi::Number>().Uint32Value());
    return info.Env().Undefined();
  }

  Napi::Value Finish(const Napi::CallbackInfo& info) {
    job_->Finish();
    return info.Env().Undefined();
  }

  // (entry) -> Promise<digests of its chunks>
  Napi::Value Digest(const Napi::CallbackInfo& info) {
    const auto digests = std::make_shared<std::vector<uint8_t>>();
    const uint32_t index = info[0].As<Napi::Number>().Uint32Value();
    return RunAsync(
        info.Env(), [job = job_, index, digests] { return job->Digest(index, digests.get()); },
        [digests](Napi::Env env) { return BytesOf(env, digests->data(), digests->size()); });
  }

  // () -> Promise, once all threads have ended
  Napi::Value Close(const Napi::CallbackInfo& info) {
    if (listener_) std::exchange(listener_, nullptr)->Forget(session_id_);
    waker_.Release();
    if (!std::exchange(closed_, true)) hook_.Remove(info.Env());
    return RunAsync(info.Env(), [job = job_] {
      job->Stop();
      return Status::Ok();
    });
  }

 private:
  static Napi::Object PageOf(Napi::Env env, const EntryTable::Page& page) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("first", Napi::Number::New(env, page.first));
    object.Set("count", Napi::Number::New(env, page.count));
    object.Set("bytes", BytesOf(env, page.bytes, page.size));
    return object;
  }

  static Napi::Object TotalsOf(Napi::Env env, const stream::WalkTotals& totals) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("entries", Napi::Number::New(env, totals.entries));
    object.Set("files", Napi::Number::New(env, totals.files));
    object.Set("bytes", Napi::Number::New(env, static_cast<double>(totals.bytes)));
    return object;
  }

  Waker waker_;
  CleanupHook hook_;
  bool closed_ = false;
  std::shared_ptr<stream::SendJob> job_;
  std::shared_ptr<stream::Listener> listener_;  // while lanes are expected
  stream::SessionId session_id_{};
};

}  // namespace

void InitSendJob(Napi::Env env, Napi::Object exports) {
  exports.Set(
      "SendJob",
      SendJob::DefineClass(
          env, "SendJob",
          {SendJob::InstanceMethod<&SendJob::Start>("start"),
           SendJob::InstanceMethod<&SendJob::ExpectLanes>("expectLanes"),
           SendJob::InstanceMethod<&SendJob::TakeNews>("takeNews"), SendJob::InstanceMethod<&SendJob::Answer>("answer"),
           SendJob::InstanceMethod<&SendJob::Fold>("fold"), SendJob::InstanceMethod<&SendJob::Drop>("drop"),
           SendJob::InstanceMethod<&SendJob::Finish>("finish"), SendJob::InstanceMethod<&SendJob::Digest>("digest"),
           SendJob::InstanceMethod<&SendJob::Close>("close")}));
}

}  // namespace keibi::napi
