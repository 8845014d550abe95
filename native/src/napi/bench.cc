// SPDX-License-Identifier: MPL-2.0
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "bench/cipher.h"
#include "bench/disk.h"
#include "bench/network.h"
#include "napi/async.h"
#include "napi/job.h"
#include "napi/module.h"

// Bench for native/lib/bench.ts, which has checked every argument. All methods run on the JavaScript thread; the
// measurements run on the pool.
namespace keibi::napi {
namespace {

using core::Status;

int64_t NumberAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::Number>().Int64Value(); }

class Bench : public Napi::ObjectWrap<Bench> {
 public:
  explicit Bench(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Bench>(info) {
    hook_ = info.Env().AddCleanupHook(std::function<void()>([stopped = stopped_] { stopped->store(true); }));
  }

  // (path, bytes) -> Promise<seconds>
  Napi::Value Write(const Napi::CallbackInfo& info) {
    return Number(info, [path = TextAt(info, 0), bytes = NumberAt(info, 1)](const auto& stopped, double* seconds) {
      return bench::WriteToDisk(path, static_cast<uint64_t>(bytes), stopped, seconds);
    });
  }

  // (path) -> Promise<{ bytes, seconds, fromMemory }>
  Napi::Value Read(const Napi::CallbackInfo& info) {
    const auto read = std::make_shared<bench::DiskRead>();
    return RunAsync(
        info.Env(),
        [stopped = stopped_, path = TextAt(info, 0), read] { return bench::ReadFromDisk(path, *stopped, read.get()); },
        [read](Napi::Env env) {
          Napi::Object result = Napi::Object::New(env);
          result.Set("bytes", Napi::Number::New(env, static_cast<double>(read->bytes)));
          result.Set("seconds", Napi::Number::New(env, read->seconds));
          result.Set("fromMemory", Napi::Boolean::New(env, read->from_memory));
          return result;
        });
  }

  // (path) -> Promise<seconds>
  Napi::Value Flush(const Napi::CallbackInfo& info) {
    return Number(info,
                  [path = TextAt(info, 0)](const auto&, double* seconds) { return bench::FlushToDisk(path, seconds); });
  }

  // (suite bit, milliseconds) -> Promise<{ seal, open }>
  Napi::Value Suite(const Napi::CallbackInfo& info) {
    const auto speed = std::make_shared<bench::SuiteSpeed>();
    return RunAsync(
        info.Env(),
        [stopped = stopped_, suite = static_cast<aead::Suite>(NumberAt(info, 0)),
         budget = std::chrono::milliseconds(NumberAt(info, 1)),
         speed] { return bench::MeasureSuite(suite, budget, *stopped, speed.get()); },
        [speed](Napi::Env env) {
          Napi::Object result = Napi::Object::New(env);
          result.Set("seal", Napi::Number::New(env, speed->seal));
          result.Set("open", Napi::Number::New(env, speed->open));
          return result;
        });
  }

  // (milliseconds) -> Promise<bytes a second>
  Napi::Value Sha256(const Napi::CallbackInfo& info) {
    return Number(info, [budget = std::chrono::milliseconds(NumberAt(info, 0))](const auto& stopped, double* rate) {
      return bench::MeasureSha256(budget, stopped, rate);
    });
  }

  // (bytes) -> Promise<seconds>
  Napi::Value Loopback(const Napi::CallbackInfo& info) {
    return Number(info, [bytes = NumberAt(info, 0)](const auto& stopped, double* seconds) {
      return bench::MeasureLoopback(static_cast<uint64_t>(bytes), stopped, seconds);
    });
  }

  // (host, port) -> Promise<seconds>
  Napi::Value RoundTrip(const Napi::CallbackInfo& info) {
    return Number(info, [host = TextAt(info, 0), port = NumberAt(info, 1)](const auto& stopped, double* seconds) {
      return bench::MeasureRoundTrip(host, static_cast<uint16_t>(port), stopped, seconds);
    });
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    stopped_->store(true);
    if (!std::exchange(closed_, true)) hook_.Remove(info.Env());
    return info.Env().Undefined();
  }

 private:
  // Runs a measurement that yields one number off the JavaScript thread.
  template <typename Measure>
  Napi::Promise Number(const Napi::CallbackInfo& info, Measure measure) {
    const auto figure = std::make_shared<double>(0);
    return RunAsync(
        info.Env(),
        [stopped = stopped_, measure = std::move(measure), figure] { return measure(*stopped, figure.get()); },
        [figure](Napi::Env env) { return Napi::Number::New(env, *figure); });
  }

  const std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
  CleanupHook hook_;
  bool closed_ = false;
};

}  // namespace

void InitBench(Napi::Env env, Napi::Object exports) {
  exports.Set(
      "Bench",
      Bench::DefineClass(
          env, "Bench",
          {Bench::InstanceMethod<&Bench::Write>("write"), Bench::InstanceMethod<&Bench::Read>("read"),
           Bench::InstanceMethod<&Bench::Flush>("flush"), Bench::InstanceMethod<&Bench::Suite>("suite"),
           Bench::InstanceMethod<&Bench::Sha256>("sha256"), Bench::InstanceMethod<&Bench::Loopback>("loopback"),
           Bench::InstanceMethod<&Bench::RoundTrip>("roundTrip"), Bench::InstanceMethod<&Bench::Close>("close")}));
}

}  // namespace keibi::napi
