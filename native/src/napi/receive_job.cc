// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_job.h"

#include <algorithm>
#include <optional>

#include "napi/async.h"
#include "napi/errors.h"
#include "napi/job.h"
#include "napi/module.h"
#include "napi/rate_budget.h"

// ReceiveJob for native/lib/receive-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using receive::ReceivePlan;

Napi::Value ResultOf(Napi::Env env, const ReceivePlan& plan) {
  Napi::Array entries = Napi::Array::New(env, plan.partials.size());
  Napi::Array bitmaps = Napi::Array::New(env, plan.partials.size());
  for (uint32_t i = 0; i < plan.partials.size(); i++) {
    const auto& [entry, bitmap] = plan.partials[i];
    entries.Set(i, Napi::Number::New(env, entry));
    bitmaps.Set(i, BytesOf(env, bitmap.data(), bitmap.size()));
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("wanted", BytesOf(env, plan.wanted.data(), plan.wanted.size()));
  result.Set("partialEntries", entries);
  result.Set("partialBitmaps", bitmaps);
  result.Set("collisions", NumbersOf(env, plan.collisions));
  result.Set("skipped", NumbersOf(env, plan.skipped));
  result.Set("restarted", NumbersOf(env, plan.restarted));
  result.Set("upToDate", NumbersOf(env, plan.up_to_date));
  return result;
}

class ReceiveJob : public Napi::ObjectWrap<ReceiveJob> {
 public:
  // (out, collisions, to stdout, report placed, durable, rate budget or undefined, on wake, enclosing folder or '')
  explicit ReceiveJob(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ReceiveJob>(info) {
    receive::ReceiveOptions options;
    options.out = info[0].As<Napi::String>().Utf8Value();
    options.collisions = static_cast<receive::Collision>(NumberAt(info, 1));
    options.to_stdout = info[2].As<Napi::Boolean>().Value();
    options.report_placed = info[3].As<Napi::Boolean>().Value();
    options.durable = info[4].As<Napi::Boolean>().Value();
    options.budget = RateBudget::From(info[5]);
    const Waker waker(info.Env(), info[6].As<Napi::Function>());
    if (info[7].IsString()) options.beneath = info[7].As<Napi::String>().Utf8Value();
    job_ = std::make_shared<receive::ReceiveJob>(std::move(options), waker.wake());
    end_ = JobEnd(info.Env(), waker, [job = job_] { job->Stop(); });
  }

  Napi::Value Open(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [job = job_] { return job->Open(); });
  }

  // (first, count, page) -> Promise<plan>
  Napi::Value Plan(const Napi::CallbackInfo& info) {
    const auto page = info[2].As<Napi::Uint8Array>();
    const auto bytes = std::make_shared<std::vector<uint8_t>>(page.Data(), page.Data() + page.ByteLength());
    const auto plan = std::make_shared<ReceivePlan>();
    return RunAsync(
        info.Env(),
        [job = job_, first = NumberAt(info, 0), count = NumberAt(info, 1), bytes, plan] {
          return job->Plan(first, count, bytes->data(), bytes->size(), plan.get());
        },
        [plan](Napi::Env env) { return ResultOf(env, *plan); });
  }

  // (entry, collision) -> Promise<plan of this one entry>
  Napi::Value Decide(const Napi::CallbackInfo& info) {
    const auto plan = std::make_shared<ReceivePlan>();
    const auto choice = static_cast<receive::Collision>(NumberAt(info, 1));
    return RunAsync(
        info.Env(),
        [job = job_, entry = NumberAt(info, 0), choice, plan] { return job->Decide(entry, choice, plan.get()); },
        [plan](Napi::Env env) { return ResultOf(env, *plan); });
  }

  Napi::Value EndOfPages(const Napi::CallbackInfo& info) {
    job_->EndOfPages();
    return info.Env().Undefined();
  }

  // (host, port, lane, session id, lane secret, suite bit, relay token or undefined, from port or undefined) -> Promise
  Napi::Value AddLane(const Napi::CallbackInfo& info) {
    const auto session =
        std::make_shared<net::ExpectedLanes>(LanesFrom(info[3], info[4], info[5], frame::Role::kInitiator));
    std::optional<relay::Token> token;
    if (!info[6].IsUndefined())
      std::copy_n(info[6].As<Napi::Uint8Array>().Data(), token.emplace().size(), token->data());
    std::optional<uint16_t> from_port;
    if (!info[7].IsUndefined()) from_port = static_cast<uint16_t>(NumberAt(info, 7));
    return RunAsync(info.Env(),
                    [job = job_, host = info[0].As<Napi::String>().Utf8Value(),
                     port = static_cast<uint16_t>(NumberAt(info, 1)), lane = NumberAt(info, 2), session, token,
                     from_port] { return job->lanes().Add(host, port, lane, *session, token, from_port); });
  }

  // (lane)
  Napi::Value CutLane(const Napi::CallbackInfo& info) {
    job_->lanes().Cut(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // () -> [{ lane, bytes, frames, rttMs, control }]
  Napi::Value Lanes(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const std::vector<net::LaneState> states = job_->lanes().states();
    Napi::Array result = Napi::Array::New(env, states.size());
    for (uint32_t i = 0; i < states.size(); i++) {
      Napi::Object lane = Napi::Object::New(env);
      lane.Set("lane", Napi::Number::New(env, states[i].lane));
      lane.Set("bytes", Napi::Number::New(env, static_cast<double>(states[i].bytes)));
      lane.Set("frames", Napi::Number::New(env, static_cast<double>(states[i].frames)));
      lane.Set("rttMs", Napi::Number::New(env, states[i].path.rtt_us / 1000.0));
      lane.Set("control", Napi::String::New(env, states[i].path.control));
      result.Set(i, lane);
    }
    return result;
  }

  // (number, secret)
  Napi::Value Rekey(const Napi::CallbackInfo& info) {
    job_->Rekey(info[0].As<Napi::Number>().Uint32Value(), frame::Key(info[1].As<Napi::Uint8Array>().Data()));
    return info.Env().Undefined();
  }

  // (entry, keep part)
  Napi::Value FailEntry(const Napi::CallbackInfo& info) {
    job_->FailEntry(NumberAt(info, 0), info[1].As<Napi::Boolean>().Value());
    return info.Env().Undefined();
  }

  // (entry)
  Napi::Value Discard(const Napi::CallbackInfo& info) {
    job_->Discard(NumberAt(info, 0));
    return info.Env().Undefined();
  }

  // () -> { problems, placed, lanesEnded, complete }
  Napi::Value TakeNews(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const receive::ReceiveNews news = job_->TakeNews();
    Napi::Array problems = Napi::Array::New(env, news.problems.size());
    for (uint32_t i = 0; i < news.problems.size(); i++) {
      const receive::EntryProblem& problem = news.problems[i];
      problems.Set(i, ProblemOf(env, problem.entry, problem.status, job_->table().PathOf(problem.entry)));
    }
    Napi::Object result = Napi::Object::New(env);
    result.Set("problems", problems);
    result.Set("placed", NumbersOf(env, news.placed));
    result.Set("lanesEnded", EndsOf(env, news.lanes_ended));
    result.Set("complete", Napi::Boolean::New(env, news.complete));
    return result;
  }

  // () -> [files, bytes, placed bytes, skipped, resumed bytes, skipped bytes]
  Napi::Value Progress(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const receive::ReceiveProgress progress = job_->progress();
    const double numbers[] = {static_cast<double>(progress.files),         static_cast<double>(progress.bytes),
                              static_cast<double>(progress.placed_bytes),  static_cast<double>(progress.skipped),
                              static_cast<double>(progress.resumed_bytes), static_cast<double>(progress.skipped_bytes)};
    Napi::Array result = Napi::Array::New(env, std::size(numbers));
    for (uint32_t i = 0; i < std::size(numbers); i++) result.Set(i, Napi::Number::New(env, numbers[i]));
    return result;
  }

  // () -> the path of the file being written, '' before the first
  Napi::Value CurrentPath(const Napi::CallbackInfo& info) { return Napi::String::New(info.Env(), job_->CurrentPath()); }

  // (entry) -> its path in the manifest
  Napi::Value PathOf(const Napi::CallbackInfo& info) {
    return Napi::String::New(info.Env(), job_->table().PathOf(NumberAt(info, 0)));
  }

  // (entry) -> its path in the destination, which a collision may have changed
  Napi::Value FinalPathOf(const Napi::CallbackInfo& info) {
    return Napi::String::New(info.Env(), job_->destination().FinalPath(NumberAt(info, 0)));
  }

  // (entry) -> Promise<digests of its chunks as on disk>
  Napi::Value Digest(const Napi::CallbackInfo& info) {
    const auto digests = std::make_shared<std::vector<uint8_t>>();
    return RunAsync(
        info.Env(), [job = job_, entry = NumberAt(info, 0), digests] { return job->Digest(entry, digests.get()); },
        [digests](Napi::Env env) { return BytesOf(env, digests->data(), digests->size()); });
  }

  // (entry) -> Promise
  Napi::Value Distrust(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [job = job_, entry = NumberAt(info, 0)] { return job->Distrust(entry); });
  }

  // (entry) -> Promise<plan>, like decide
  Napi::Value Refetch(const Napi::CallbackInfo& info) {
    const auto result = std::make_shared<ReceivePlan>();
    return RunAsync(
        info.Env(), [job = job_, entry = NumberAt(info, 0), result] { return job->Refetch(entry, result.get()); },
        [result](Napi::Env env) { return ResultOf(env, *result); });
  }

  Napi::Value Finish(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [job = job_] { return job->Finish(); });
  }

  // () -> Promise, resolved when all threads have ended and the bitmaps are saved
  Napi::Value Close(const Napi::CallbackInfo& info) { return end_.Close(info.Env()); }

 private:
  std::shared_ptr<receive::ReceiveJob> job_;
  JobEnd end_;
};

}  // namespace

void InitReceiveJob(Napi::Env env, Napi::Object exports) {
  exports.Set("ReceiveJob",
              ReceiveJob::DefineClass(env, "ReceiveJob",
                                      {ReceiveJob::InstanceMethod<&ReceiveJob::Open>("open"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Plan>("plan"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Decide>("decide"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::EndOfPages>("endOfPages"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::AddLane>("addLane"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::CutLane>("cutLane"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Lanes>("lanes"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Rekey>("rekey"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::FailEntry>("failEntry"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Discard>("discard"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::TakeNews>("takeNews"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Progress>("progress"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::CurrentPath>("currentPath"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::PathOf>("pathOf"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::FinalPathOf>("finalPathOf"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Digest>("digest"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Distrust>("distrust"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Refetch>("refetch"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Finish>("finish"),
                                       ReceiveJob::InstanceMethod<&ReceiveJob::Close>("close")}));
}

}  // namespace keibi::napi
