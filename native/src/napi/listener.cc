// SPDX-License-Identifier: MPL-2.0
#include "napi/listener.h"

#include <utility>

#include "napi/errors.h"
#include "napi/module.h"

namespace keibi::napi {
namespace {

// Connections posted and not called back yet; one more is closed.
constexpr size_t kMostPosted = 256;

constexpr napi_type_tag kTypeTag = {0x7f0c2a5d1c6e4b93, 0xa1d85e0f63b7429c};

Napi::Object ToObject(Napi::Env env, const stream::Incoming& incoming) {
  const bool control = incoming.kind == stream::Incoming::Kind::kControl;
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", control ? "control" : "rendezvous");
  object.Set("remoteAddress", incoming.address);
  object.Set("remotePort", Napi::Number::New(env, incoming.port));
  object.Set("fd", Napi::Number::New(env, incoming.fd.get()));
  return object;
}

}  // namespace

void DeliverIncoming(Napi::Env env, Napi::Function callback, std::nullptr_t*, stream::Incoming* incoming) {
  const std::unique_ptr<stream::Incoming> owned(incoming);
  if (static_cast<napi_env>(env) == nullptr) return;  // the listener was closed meanwhile
  const napi_value argument = ToObject(env, *incoming);
  const napi_status status = napi_call_function(env, env.Undefined(), callback, 1, &argument, nullptr);
  const bool thrown = env.IsExceptionPending();
  // In an env that is being torn down nothing can be called: the descriptor is still ours to close.
  if (status == napi_ok || thrown) incoming->fd.release();
  if (!thrown) return;
  // Node 20 only warns of an exception in a callback like this one; it must be an uncaught one as everywhere else.
  const Napi::Error error = env.GetAndClearPendingException();
  napi_fatal_exception(env, error.Value());
}

Napi::Function Listener::Define(Napi::Env env) {
  return DefineClass(env, "Listener",
                     {InstanceAccessor<&Listener::Port>("port"), InstanceMethod<&Listener::JsClose>("close")});
}

Listener* Listener::From(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTypeTag)) return nullptr;
  return Unwrap(value.As<Napi::Object>());
}

Listener::Listener(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Listener>(info), env_(info.Env()) {
  info.This().As<Napi::Object>().TypeTag(&kTypeTag);
  stream::ListenerOptions options;
  options.host = info[0].As<Napi::String>().Utf8Value();
  options.port = static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value());
  callback_ = Callback::New(info.Env(), info[2].As<Napi::Function>(), "keibidrop listener", kMostPosted, 1);

  const auto post = [callback = callback_](stream::Incoming incoming) {
    auto posted = std::make_unique<stream::Incoming>(std::move(incoming));
    if (callback.NonBlockingCall(posted.get()) == napi_ok) posted.release();
  };
  const core::Status status = stream::Listener::Open(options, post, &listener_);
  if (!status.ok()) {
    callback_.Abort();
    MakeSystemError(info.Env(), "listen", status.system_error).ThrowAsJavaScriptException();
    return;
  }
  // Hooks run last in first out: this one before the callback's own, after which the thread must not post any more.
  napi_add_env_cleanup_hook(env_, OnEnvEnd, this);
  open_ = true;
  Ref();
}

Listener::~Listener() { Close(); }

void Listener::OnEnvEnd(void* self) {
  auto* object = static_cast<Listener*>(self);
  object->listener_->Stop();
  object->callback_.Abort();
  object->open_ = false;
}

void Listener::Close() {
  if (!std::exchange(open_, false)) return;
  napi_remove_env_cleanup_hook(env_, OnEnvEnd, this);
  listener_->Stop();
  callback_.Abort();
}

Napi::Value Listener::Port(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), listener_->port()); }

Napi::Value Listener::JsClose(const Napi::CallbackInfo& info) {
  if (open_) Unref();
  Close();
  return info.Env().Undefined();
}

void InitListener(Napi::Env env, Napi::Object exports) { exports.Set("Listener", Listener::Define(env)); }

}  // namespace keibi::napi
