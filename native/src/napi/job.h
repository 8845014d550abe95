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
#include "core/wake.h"
#include "net/lane_acceptor.h"
#include "net/lane_dial.h"
#include "net/lane_end.h"
#include "receive/receive_lanes.h"

namespace keibi::napi {

// Calls a JavaScript function without arguments from any thread. Merges calls that arrive before the last one ran.
class Waker {
 public:
  Waker(Napi::Env env, const Napi::Function& on_wake);
  core::Wake wake() const;
  void Release();  // JavaScript thread; no call begins afterwards. Idempotent

 private:
  struct Shared {
    std::mutex mutex;  // a released function must not be touched
    Napi::ThreadSafeFunction function;
    bool posted = false;
    bool released = false;
  };
  static void Call(Shared* shared, Napi::Env env, const Napi::Function& on_wake);

  std::shared_ptr<Shared> shared_;
};

using CleanupHook = Napi::Env::CleanupHook<std::function<void()>>;

// Stops a job when it is closed. If its owner forgot that, stops it when the env ends, which its threads must not
// outlive.
class JobEnd {
 public:
  JobEnd() = default;
  // `stop` may block and must be idempotent. After that the waker, if any, calls nothing.
  JobEnd(Napi::Env env, std::optional<Waker> waker, std::function<void()> stop);

  Napi::Promise Close(Napi::Env env);  // resolves when `stop` has returned

 private:
  std::optional<Waker> waker_;
  std::function<void()> stop_;
  CleanupHook hook_;
  bool closed_ = false;
};

// Arguments of a job's methods, checked by native/lib.
inline uint32_t NumberAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::Number>().Uint32Value(); }
net::ExpectedLanes LanesFrom(const Napi::Value& session_id, const Napi::Value& lane_secret, const Napi::Value& suite,
                             frame::Role self);

// (host, port, …, 6: relay token or undefined, 7: own port or undefined), as in native/lib/lane-dial.ts.
net::LanePlace PlaceFrom(const Napi::CallbackInfo& info);

Napi::Uint8Array BytesOf(Napi::Env env, const uint8_t* bytes, size_t size);
Napi::Array NumbersOf(Napi::Env env, const std::vector<uint32_t>& numbers);
// [{ lane, frames, code }]; code is '' for a lane that ended without an error.
Napi::Array EndsOf(Napi::Env env, const std::vector<net::LaneEnd>& ends);
// [{ lane, bytes, rttMs, control }]
Napi::Array StatesOf(Napi::Env env, const std::vector<net::LaneState>& states);
Napi::Object ProblemOf(Napi::Env env, uint32_t entry, core::Status status, const std::string& path);

}  // namespace keibi::napi
