// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <memory>

#include "net/listener.h"

namespace keibi::napi {

class Listener;

// Called on the listener's thread, runs on the JavaScript thread; owns `incoming`.
void DeliverIncoming(Napi::Env env, Napi::Function callback, Listener* listener, net::Incoming* incoming);

// The outcome of a joinRelay(), to be delivered on the JavaScript thread.
struct Joined {
  Napi::Promise::Deferred deferred;
  core::Status status;
};

// Called on the listener's thread or from Close, runs on the JavaScript thread; owns `joined`.
void DeliverJoined(Napi::Env env, Napi::Function callback, std::nullptr_t* context, Joined* joined);

// The native half of native/lib/listener.ts. JavaScript thread only.
//
// In call order: the constructor starts the listener's thread; that thread posts connections; DeliverIncoming calls
// back with them. Close (from close(), the env's end or the destructor; the first counts) joins the thread. It then
// drops posted connections that were not delivered and closes their descriptors. Pending joins still fail.
class Listener : public Napi::ObjectWrap<Listener> {
 public:
  static Napi::Function Define(Napi::Env env);

  // The object wrapped by `value`, or null if it is something else.
  static Listener* From(const Napi::Value& value);

  // (host, port, callback(incoming), http, undecided of a network)
  explicit Listener(const Napi::CallbackInfo& info);
  ~Listener() override;

  // For jobs that expect lanes. After close() the listener is stopped and expects nothing.
  std::shared_ptr<net::Listener> listener() const { return listener_; }

 private:
  using JoinedCall = Napi::TypedThreadSafeFunction<std::nullptr_t, Joined, DeliverJoined>;
  using Callback = Napi::TypedThreadSafeFunction<Listener, net::Incoming, DeliverIncoming>;

  static void OnEnvEnd(void* self);
  Napi::Value Port(const Napi::CallbackInfo& info);
  Napi::Value JoinRelay(const Napi::CallbackInfo& info);
  Napi::Value CancelJoin(const Napi::CallbackInfo& info);
  Napi::Value Punch(const Napi::CallbackInfo& info);
  Napi::Value ServeRelay(const Napi::CallbackInfo& info);
  Napi::Value RelayStats(const Napi::CallbackInfo& info);
  Napi::Value JsClose(const Napi::CallbackInfo& info);
  void Close();

  napi_env env_;
  std::shared_ptr<net::Listener> listener_;
  Callback callback_;
  JoinedCall joined_;
  bool open_ = false;
};

// The lanes of a session that a job expects from a listener. JavaScript thread.
class Expectation {
 public:
  // (listener, session id, lane secret, suite bit)
  void Begin(const Napi::CallbackInfo& info, std::shared_ptr<net::LaneAcceptor> job);
  void End();  // does nothing if it never began

 private:
  std::shared_ptr<net::Listener> listener_;
  net::SessionId session_id_{};
};

}  // namespace keibi::napi
