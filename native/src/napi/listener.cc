// SPDX-License-Identifier: MPL-2.0
#include "napi/listener.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "napi/errors.h"
#include "napi/job.h"
#include "napi/module.h"

namespace keibi::napi {
namespace {

using net::Incoming;

// Connections posted but not yet called back; at this many the listener leaves further ones in its backlog.
constexpr size_t kMostPosted = 256;

constexpr napi_type_tag kListenerTag = {0x7f0c2a5d1c6e4b93, 0xa1d85e0f63b7429c};

const char* NameOf(Incoming::Kind kind) {
  switch (kind) {
    case Incoming::Kind::kRendezvous:
      return "rendezvous";
    case Incoming::Kind::kHttp:
      return "http";
    case Incoming::Kind::kTls:
      return "tls";
    case Incoming::Kind::kControl:
      return "control";
  }
  return "";
}

Napi::Object ToObject(Napi::Env env, const Incoming& incoming) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", NameOf(incoming.kind));
  object.Set("relayed", Napi::Boolean::New(env, incoming.relayed));
  object.Set("remoteAddress", incoming.address);
  object.Set("remotePort", Napi::Number::New(env, incoming.port));
  object.Set("fd", Napi::Number::New(env, incoming.fd.get()));
  return object;
}

}  // namespace

void DeliverIncoming(Napi::Env env, Napi::Function callback, Listener* listener, Incoming* incoming) {
  const std::unique_ptr<Incoming> owned(incoming);
  if (static_cast<napi_env>(env) == nullptr) return;  // the listener was closed meanwhile, and may be gone
  listener->listener()->Took();
  const napi_value argument = ToObject(env, *incoming);
  const napi_status status = napi_call_function(env, env.Undefined(), callback, 1, &argument, nullptr);
  const bool thrown = env.IsExceptionPending();
  // An env in teardown cannot call anything: the descriptor is then still ours to close.
  if (status == napi_ok || thrown) incoming->fd.release();
  if (!thrown) return;
  // Node 20 only warns about an exception in such a callback; make it an uncaught exception as everywhere else.
  const Napi::Error error = env.GetAndClearPendingException();
  napi_fatal_exception(env, error.Value());
}

void DeliverJoined(Napi::Env env, Napi::Function, std::nullptr_t*, Joined* joined) {
  const std::unique_ptr<Joined> owned(joined);
  if (static_cast<napi_env>(env) == nullptr) return;  // the env ends, and its promises end with it
  if (joined->status.ok()) return joined->deferred.Resolve(env.Undefined());
  joined->deferred.Reject(MakeError(env, joined->status).Value());
}

Napi::Function Listener::Define(Napi::Env env) {
  return DefineClass(
      env, "Listener",
      {InstanceAccessor<&Listener::Port>("port"), InstanceMethod<&Listener::JoinRelay>("joinRelay"),
       InstanceMethod<&Listener::CancelJoin>("cancelJoin"), InstanceMethod<&Listener::Punch>("punch"),
       InstanceMethod<&Listener::ServeRelay>("serveRelay"), InstanceMethod<&Listener::RelayStats>("relayStats"),
       InstanceMethod<&Listener::JsClose>("close")});
}

Listener* Listener::From(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kListenerTag)) return nullptr;
  return Unwrap(value.As<Napi::Object>());
}

Listener::Listener(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Listener>(info), env_(info.Env()) {
  info.This().As<Napi::Object>().TypeTag(&kListenerTag);
  net::ListenerOptions options;
  options.host = info[0].As<Napi::String>().Utf8Value();
  options.port = static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value());
  options.http = info[3].ToBoolean();
  options.max_undecided_of_network = info[4].As<Napi::Number>().Uint32Value();
  options.max_handed_over = kMostPosted;
  // Without a queue limit: the listener counts itself, and a full queue would drop connections silently.
  callback_ = Callback::New(info.Env(), info[2].As<Napi::Function>(), "keibidrop listener", 0, 1, this);
  joined_ = JoinedCall::New(info.Env(), "keibidrop listener, relays", 0, 1);

  const auto post = [callback = callback_](Incoming incoming) {
    auto posted = std::make_unique<Incoming>(std::move(incoming));
    if (callback.NonBlockingCall(posted.get()) == napi_ok) posted.release();
  };
  const core::Status status = net::Listener::Open(options, post, &listener_);
  if (!status.ok()) {
    callback_.Abort();
    joined_.Abort();
    MakeSystemError(info.Env(), "listen", status.system_error).ThrowAsJavaScriptException();
    return;
  }
  // Hooks run in reverse order: this one runs before the callback's own hook, after which the thread must not post.
  napi_add_env_cleanup_hook(env_, OnEnvEnd, this);
  open_ = true;
  Ref();
}

Listener::~Listener() { Close(); }

void Listener::OnEnvEnd(void* self) {
  auto* object = static_cast<Listener*>(self);
  object->listener_->Stop();
  object->callback_.Abort();
  object->joined_.Abort();
  object->open_ = false;
}

void Listener::Close() {
  if (!std::exchange(open_, false)) return;
  napi_remove_env_cleanup_hook(env_, OnEnvEnd, this);
  listener_->Stop();
  callback_.Abort();
  joined_.Release();  // after Stop has posted its last results
}

// (host, port, token, wait ms, number) -> Promise
Napi::Value Listener::JoinRelay(const Napi::CallbackInfo& info) {
  net::RelayPlace place;
  place.host = info[0].As<Napi::String>().Utf8Value();
  place.port = static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value());
  std::copy_n(info[2].As<Napi::Uint8Array>().Data(), place.token.size(), place.token.begin());
  place.wait = std::chrono::milliseconds(info[3].As<Napi::Number>().Uint32Value());
  place.number = static_cast<uint64_t>(info[4].As<Napi::Number>().Int64Value());
  const auto deferred = Napi::Promise::Deferred::New(info.Env());
  if (!open_) {
    deferred.Reject(MakeError(info.Env(), core::Status::Of(core::Code::kCancelled)).Value());
    return deferred.Promise();
  }
  listener_->JoinRelay(std::move(place), [deferred, joined = joined_](core::Status status) {
    auto posted = std::make_unique<Joined>(Joined{deferred, status});
    if (joined.NonBlockingCall(posted.get()) == napi_ok) posted.release();
  });
  return deferred.Promise();
}

// (host, port, wait ms)
Napi::Value Listener::Punch(const Napi::CallbackInfo& info) {
  net::PunchPlace place;
  place.host = info[0].As<Napi::String>().Utf8Value();
  place.port = static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value());
  place.wait = std::chrono::milliseconds(info[2].As<Napi::Number>().Uint32Value());
  if (open_) listener_->Punch(std::move(place));
  return info.Env().Undefined();
}

// (number)
Napi::Value Listener::CancelJoin(const Napi::CallbackInfo& info) {
  if (open_) listener_->CancelJoin(static_cast<uint64_t>(info[0].As<Napi::Number>().Int64Value()));
  return info.Env().Undefined();
}

// (pairs, waiting, per address, wait ms, idle ms, lifetime ms, bytes a second)
Napi::Value Listener::ServeRelay(const Napi::CallbackInfo& info) {
  if (!open_) return info.Env().Undefined();
  const auto number = [&info](size_t i) { return info[i].As<Napi::Number>().Uint32Value(); };
  const auto duration = [&number](size_t i) { return std::chrono::milliseconds(number(i)); };
  const relay::Limits limits{number(0),
                             number(1),
                             number(2),
                             duration(3),
                             duration(4),
                             duration(5),
                             static_cast<uint64_t>(info[6].As<Napi::Number>().Int64Value())};
  if (const core::Status status = listener_->ServeRelay(limits); !status.ok()) Throw(info.Env(), status);
  return info.Env().Undefined();
}

Napi::Value Listener::RelayStats(const Napi::CallbackInfo& info) {
  const relay::Stats relay = listener_->relay_stats();
  const net::DropCounts drops = listener_->drops();
  Napi::Object stats = Napi::Object::New(info.Env());
  const auto set = [&stats](const char* name, uint64_t value) { stats.Set(name, static_cast<double>(value)); };
  set("waiting", relay.waiting);
  set("pairs", relay.pairs);
  set("joined", relay.joined);
  set("refused", relay.refused);
  set("expired", relay.expired);
  set("cut", relay.cut);
  set("bytes", relay.bytes);
  set("malformed", drops.malformed);
  set("slow", drops.slow);
  set("crowdedOut", drops.crowded_out);
  return stats;
}

Napi::Value Listener::Port(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), listener_->port()); }

Napi::Value Listener::JsClose(const Napi::CallbackInfo& info) {
  if (open_) Unref();
  Close();
  return info.Env().Undefined();
}

void Expectation::Begin(const Napi::CallbackInfo& info, std::shared_ptr<net::LaneAcceptor> job) {
  listener_ = Listener::From(info[0])->listener();
  net::ExpectedLanes lanes = LanesFrom(info[1], info[2], info[3], frame::Role::kResponder);
  session_id_ = lanes.session_id;
  listener_->Expect(std::move(lanes), std::move(job));
}

void Expectation::End() {
  if (listener_) std::exchange(listener_, nullptr)->Forget(session_id_);
}

void InitListener(Napi::Env env, Napi::Object exports) { exports.Set("Listener", Listener::Define(env)); }

}  // namespace keibi::napi
