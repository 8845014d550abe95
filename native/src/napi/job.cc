// SPDX-License-Identifier: MPL-2.0
#include "napi/job.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "napi/async.h"
#include "napi/errors.h"

namespace keibi::napi {

Waker::Waker(Napi::Env env, const Napi::Function& on_wake) : shared_(std::make_shared<Shared>()) {
  shared_->function =
      Napi::ThreadSafeFunction::New(env, on_wake, "keibidrop job", /*maxQueueSize=*/0, /*initialThreadCount=*/1);
}

core::Wake Waker::wake() const {
  return [shared = shared_] {
    const std::scoped_lock lock(shared->mutex);
    if (shared->released || std::exchange(shared->posted, true)) return;
    const auto call = [shared](Napi::Env env, Napi::Function on_wake) { Call(shared.get(), env, on_wake); };
    if (shared->function.NonBlockingCall(call) != napi_ok) shared->posted = false;
  };
}

void Waker::Call(Shared* shared, Napi::Env env, const Napi::Function& on_wake) {
  {
    const std::scoped_lock lock(shared->mutex);
    shared->posted = false;
    if (shared->released) return;
  }
  on_wake.Call({});
  // Node 20 only warns about an exception in such a callback; make it an uncaught exception as everywhere else.
  if (env.IsExceptionPending()) napi_fatal_exception(env, env.GetAndClearPendingException().Value());
}

void Waker::Release() {
  const std::scoped_lock lock(shared_->mutex);
  if (!std::exchange(shared_->released, true)) shared_->function.Release();
}

JobEnd::JobEnd(Napi::Env env, std::optional<Waker> waker, std::function<void()> stop)
    : waker_(std::move(waker)), stop_(std::move(stop)) {
  hook_ = env.AddCleanupHook(std::function<void()>([waker = waker_, stop = stop_]() mutable {
    stop();
    if (waker) waker->Release();
  }));
}

Napi::Promise JobEnd::Close(Napi::Env env) {
  if (waker_) waker_->Release();
  if (!std::exchange(closed_, true)) hook_.Remove(env);
  return RunAsync(env, [stop = stop_] {
    stop();
    return core::Status::Ok();
  });
}

net::ExpectedLanes LanesFrom(const Napi::Value& session_id, const Napi::Value& lane_secret, const Napi::Value& suite,
                             frame::Role self) {
  net::ExpectedLanes lanes;
  std::memcpy(lanes.session_id.data(), session_id.As<Napi::Uint8Array>().Data(), lanes.session_id.size());
  lanes.lane_secret = frame::Key(lane_secret.As<Napi::Uint8Array>().Data());
  lanes.suite = static_cast<aead::Suite>(suite.As<Napi::Number>().Uint32Value());
  lanes.self = self;
  return lanes;
}

net::LanePlace PlaceFrom(const Napi::CallbackInfo& info) {
  const auto port = [&](size_t i) { return static_cast<uint16_t>(info[i].As<Napi::Number>().Uint32Value()); };
  net::LanePlace place{info[0].As<Napi::String>().Utf8Value(), port(1)};
  if (!info[6].IsUndefined()) {
    std::copy_n(info[6].As<Napi::Uint8Array>().Data(), place.token.emplace().size(), place.token->data());
  }
  if (!info[7].IsUndefined()) place.from_port = port(7);
  return place;
}

Napi::Uint8Array BytesOf(Napi::Env env, const uint8_t* bytes, size_t size) {
  Napi::Uint8Array array = Napi::Uint8Array::New(env, size);
  if (size > 0) std::memcpy(array.Data(), bytes, size);
  return array;
}

Napi::Array NumbersOf(Napi::Env env, const std::vector<uint32_t>& numbers) {
  const Napi::Array array = Napi::Array::New(env, numbers.size());
  for (uint32_t i = 0; i < numbers.size(); i++) array.Set(i, Napi::Number::New(env, numbers[i]));
  return array;
}

Napi::Array EndsOf(Napi::Env env, const std::vector<net::LaneEnd>& ends) {
  const Napi::Array array = Napi::Array::New(env, ends.size());
  for (uint32_t i = 0; i < ends.size(); i++) {
    const auto& [lane, frames, status] = ends[i];
    Napi::Object end = Napi::Object::New(env);
    end.Set("lane", Napi::Number::New(env, lane));
    end.Set("frames", Napi::Number::New(env, static_cast<double>(frames)));
    end.Set("code", Napi::String::New(env, status.ok() ? "" : CodeName(status.code)));
    array.Set(i, end);
  }
  return array;
}

Napi::Array StatesOf(Napi::Env env, const std::vector<net::LaneState>& states) {
  const Napi::Array result = Napi::Array::New(env, states.size());
  for (uint32_t i = 0; i < states.size(); i++) {
    Napi::Object lane = Napi::Object::New(env);
    lane.Set("lane", Napi::Number::New(env, states[i].lane));
    lane.Set("bytes", Napi::Number::New(env, static_cast<double>(states[i].bytes)));
    lane.Set("rttMs", Napi::Number::New(env, states[i].path.rtt_us / 1000.0));
    lane.Set("control", Napi::String::New(env, states[i].path.control));
    result.Set(i, lane);
  }
  return result;
}

Napi::Object ProblemOf(Napi::Env env, uint32_t entry, core::Status status, const std::string& path) {
  Napi::Object problem = Napi::Object::New(env);
  const Napi::Error error = MakeError(env, status);
  problem.Set("entry", Napi::Number::New(env, entry));
  problem.Set("code", error.Get("code"));
  problem.Set("reason", error.Get("message"));
  problem.Set("path", Napi::String::New(env, path));
  return problem;
}

}  // namespace keibi::napi
