// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "stream/lane_acceptor.h"
#include "stream/lane_dial.h"
#include "stream/lane_end.h"
#include "stream/receive_lanes.h"
#include "stream/wake.h"

namespace keibi::napi {

// Calls a JavaScript function without arguments from any thread; calls that come before the last one ran are merged.
class Waker {
 public:
  Waker(Napi::Env env, const Napi::Function& on_wake);
  stream::Wake wake() const;
  void Release();  // JavaScript thread; no call begins afterwards. Idempotent

 private:
  struct Shared {
    std::mutex mutex;  // a function that was released must not be touched any more
    Napi::ThreadSafeFunction function;
    bool posted = false;
    bool released = false;
  };
  static void Call(Shared* shared, Napi::Env env, const Napi::Function& on_wake);

  std::shared_ptr<Shared> shared_;
};

using CleanupHook = Napi::Env::CleanupHook<std::function<void()>>;

// Stops a job: when it is closed or, if its owner forgot it, when the env ends, which its threads must not outlive.
class JobEnd {
 public:
  JobEnd() = default;
  // `stop` may block and is idempotent. What the job wakes, if anything, is not called any more then.
  JobEnd(Napi::Env env, std::optional<Waker> waker, std::function<void()> stop);

  Napi::Promise Close(Napi::Env env);  // once `stop` has returned

 private:
  std::optional<Waker> waker_;
  std::function<void()> stop_;
  CleanupHook hook_;
  bool closed_ = false;
};

// Arguments of a job's methods, checked by native/lib.
inline uint32_t NumberAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::Number>().Uint32Value(); }
stream::ExpectedLanes LanesFrom(const Napi::Value& session_id, const Napi::Value& lane_secret, const Napi::Value& suite,
                                frame::Role self);

// (host, port, …, 6: relay token or undefined, 7: own port or undefined), as native/lib/lane-dial.ts has them.
stream::LanePlace PlaceFrom(const Napi::CallbackInfo& info);

Napi::Uint8Array BytesOf(Napi::Env env, const uint8_t* bytes, size_t size);
Napi::Array NumbersOf(Napi::Env env, const std::vector<uint32_t>& numbers);
// [{ lane, frames, code }], code '' for one that ended well.
Napi::Array EndsOf(Napi::Env env, const std::vector<stream::LaneEnd>& ends);
// [{ lane, bytes, rttMs, control }]
Napi::Array StatesOf(Napi::Env env, const std::vector<stream::LaneState>& states);
Napi::Object ProblemOf(Napi::Env env, uint32_t entry, core::Status status, const std::string& path);

}  // namespace keibi::napi
