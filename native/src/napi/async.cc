// SPDX-License-Identifier: MPL-2.0
#include "napi/async.h"

#include "napi/errors.h"

namespace keibi::napi {
namespace {

// Constructor and OnOK: JavaScript thread. Execute: pool thread. Deletes itself after OnOK.
class PromiseWorker : public Napi::AsyncWorker {
 public:
  PromiseWorker(Napi::Env env, Work work, Result result)
      : Napi::AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        work_(std::move(work)),
        result_(std::move(result)) {}

  Napi::Promise promise() const { return deferred_.Promise(); }
  void Execute() override { status_ = work_(); }
  void OnOK() override {
    if (!status_.ok()) return deferred_.Reject(MakeError(Env(), status_).Value());
    deferred_.Resolve(result_ ? result_(Env()) : Env().Undefined());
  }

 private:
  const Napi::Promise::Deferred deferred_;
  const Work work_;
  const Result result_;
  core::Status status_;
};

}  // namespace

Napi::Promise RunAsync(Napi::Env env, Work work, Result result) {
  auto* const worker = new PromiseWorker(env, std::move(work), std::move(result));
  const Napi::Promise promise = worker->promise();
  worker->Queue();
  return promise;
}

}  // namespace keibi::napi
