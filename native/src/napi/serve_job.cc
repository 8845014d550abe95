// SPDX-License-Identifier: MPL-2.0
#include "share/serve_job.h"

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "napi/async.h"
#include "napi/folder_writes.h"
#include "napi/job.h"
#include "napi/listener.h"
#include "napi/lock_table.h"
#include "napi/module.h"
#include "napi/rate_budget.h"

// ServeJob for native/lib/serve-job.ts, which has checked every argument. All methods run on the JavaScript thread.
namespace keibi::napi {
namespace {

using core::Status;

class ServeJob : public Napi::ObjectWrap<ServeJob> {
 public:
  // (folder, the one shared file in it or '', rate budget or undefined, folder writes or undefined, lock table or
  // undefined)
  explicit ServeJob(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ServeJob>(info) {
    share::ServeOptions options;
    options.folder = {info[0].As<Napi::String>().Utf8Value(), info[1].As<Napi::String>().Utf8Value()};
    options.budget = RateBudget::From(info[2]);
    options.ledger = FolderWrites::LedgerOf(info[3]);
    options.locks = LockTable::From(info[4]);
    job_ = std::make_shared<share::ServeJob>(std::move(options));
    end_ = JobEnd(info.Env(), std::nullopt, [job = job_] { job->Stop(); });
  }

  // (listener, session id, lane secret, suite bit)
  Napi::Value ExpectLanes(const Napi::CallbackInfo& info) {
    expectation_.Begin(info, job_);
    return info.Env().Undefined();
  }

  // (number, secret)
  Napi::Value Rekey(const Napi::CallbackInfo& info) {
    job_->Rekey(info[0].As<Napi::Number>().Uint32Value(), frame::Key(info[1].As<Napi::Uint8Array>().Data()));
    return info.Env().Undefined();
  }

  // (path, base size or -1, base mtime, token, keep) -> Promise<handle>
  Napi::Value OpenWrite(const Napi::CallbackInfo& info) {
    const auto handle = std::make_shared<uint32_t>(0);
    return RunAsync(
        info.Env(),
        [job = job_, path = info[0].As<Napi::String>().Utf8Value(), base = BaseAt(info, 1), handle] {
          return job->written() ? job->written()->Open(path, base, handle.get()) : ReadOnly();
        },
        [handle](Napi::Env env) { return Napi::Number::New(env, *handle); });
  }

  // (handle, size, mtime, sync) -> Promise<entry>
  Napi::Value Commit(const Napi::CallbackInfo& info) {
    const auto entry = std::make_shared<std::vector<uint8_t>>();
    return RunAsync(
        info.Env(),
        [job = job_, handle = info[0].As<Napi::Number>().Uint32Value(), finish = FinishAt(info, 1), entry] {
          return job->written() ? job->written()->Commit(handle, finish, entry.get()) : ReadOnly();
        },
        [entry](Napi::Env env) { return BytesOf(env, entry->data(), entry->size()); });
  }

  // (handle) -> Promise
  Napi::Value CloseWrite(const Napi::CallbackInfo& info) {
    return RunAsync(info.Env(), [job = job_, handle = info[0].As<Napi::Number>().Uint32Value()] {
      if (job->written()) job->written()->Close(handle);
      return Status::Ok();
    });
  }

  // () -> bytes of files sent
  Napi::Value Bytes(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(job_->bytes()));
  }

  // () -> Promise, resolved when all threads have ended
  Napi::Value Close(const Napi::CallbackInfo& info) {
    expectation_.End();
    return end_.Close(info.Env());
  }

 private:
  static Status ReadOnly() { return Status::Of(core::Code::kCallFailed, EROFS); }

  std::shared_ptr<share::ServeJob> job_;
  JobEnd end_;
  Expectation expectation_;
};

}  // namespace

void InitServeJob(Napi::Env env, Napi::Object exports) {
  exports.Set("ServeJob", ServeJob::DefineClass(env, "ServeJob",
                                                {ServeJob::InstanceMethod<&ServeJob::ExpectLanes>("expectLanes"),
                                                 ServeJob::InstanceMethod<&ServeJob::Rekey>("rekey"),
                                                 ServeJob::InstanceMethod<&ServeJob::OpenWrite>("openWrite"),
                                                 ServeJob::InstanceMethod<&ServeJob::Commit>("commit"),
                                                 ServeJob::InstanceMethod<&ServeJob::CloseWrite>("closeWrite"),
                                                 ServeJob::InstanceMethod<&ServeJob::Bytes>("bytes"),
                                                 ServeJob::InstanceMethod<&ServeJob::Close>("close")}));
}

}  // namespace keibi::napi
