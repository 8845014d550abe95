// SPDX-License-Identifier: MPL-2.0
#include "frame/frame.h"

#include <cassert>
#include <optional>

#include "aead/libcrypto.h"
#include "napi/errors.h"
#include "napi/module.h"

// FrameSealer, FrameOpener and hasHardwareAes for native/lib/frame.ts, which has checked every argument.
namespace keibi::napi {
namespace {

using core::Code;
using core::Status;

frame::Key KeyFrom(const Napi::Value& value) {
  const auto bytes = value.As<Napi::Uint8Array>();
  assert(bytes.ByteLength() == frame::Key::size());
  return frame::Key(bytes.Data());
}

aead::Suite SuiteFrom(const Napi::Value& value) {
  return static_cast<aead::Suite>(value.As<Napi::Number>().Uint32Value());
}

class FrameSealer : public Napi::ObjectWrap<FrameSealer> {
 public:
  // (suite bit, key 32, ratchet bytes)
  explicit FrameSealer(const Napi::CallbackInfo& info) : Napi::ObjectWrap<FrameSealer>(info) {
    frame::RatchetPolicy policy = frame::RatchetPolicy::Default();
    const auto wanted = static_cast<uint64_t>(info[2].As<Napi::Number>().Int64Value());
    if (wanted < policy.bytes) policy.bytes = wanted;
    sealer_.emplace(SuiteFrom(info[0]), KeyFrom(info[1]), policy);
  }

  // (frame with the plaintext at kHeaderBytes) -> void
  Napi::Value Seal(const Napi::CallbackInfo& info) {
    auto bytes = info[0].As<Napi::Uint8Array>();
    assert(bytes.ByteLength() >= frame::kOverheadBytes);
    const bool sealed = sealer_ && sealer_->Seal(bytes.Data(), bytes.ByteLength() - frame::kOverheadBytes) != 0;
    if (!sealed) Throw(info.Env(), Status::Of(sealer_ ? Code::kInternal : Code::kSessionClosed));
    return info.Env().Undefined();
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    sealer_.reset();
    return info.Env().Undefined();
  }

 private:
  std::optional<frame::Sealer> sealer_;  // empty once closed
};

class FrameOpener : public Napi::ObjectWrap<FrameOpener> {
 public:
  // (suite bit, key 32)
  explicit FrameOpener(const Napi::CallbackInfo& info) : Napi::ObjectWrap<FrameOpener>(info) {
    opener_.emplace(SuiteFrom(info[0]), KeyFrom(info[1]));
  }

  // (frame) -> bytes of plaintext, which begins at kHeaderBytes
  Napi::Value Open(const Napi::CallbackInfo& info) {
    auto bytes = info[0].As<Napi::Uint8Array>();
    size_t plaintext_bytes = 0;
    const Status status =
        opener_ ? opener_->Open(bytes.Data(), bytes.ByteLength(), &plaintext_bytes) : Status::Of(Code::kSessionClosed);
    if (!status.ok()) Throw(info.Env(), status);
    return Napi::Number::New(info.Env(), static_cast<double>(plaintext_bytes));
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    opener_.reset();
    return info.Env().Undefined();
  }

 private:
  std::optional<frame::Opener> opener_;  // empty once closed
};

// (length field, 4 bytes) -> bytes that follow it
Napi::Value BodyBytes(const Napi::CallbackInfo& info) {
  const auto field = info[0].As<Napi::Uint8Array>();
  assert(field.ByteLength() == frame::kLengthBytes);
  size_t body_bytes = 0;
  const Status status = frame::Opener::BodyBytes(field.Data(), &body_bytes);
  if (!status.ok()) Throw(info.Env(), status);
  return Napi::Number::New(info.Env(), static_cast<double>(body_bytes));
}

Napi::Value HasHardwareAes(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), aead::HasHardwareAes());
}

Napi::Value LibcryptoVersion(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), aead::LibcryptoVersion());
}

}  // namespace

void InitFrame(Napi::Env env, Napi::Object exports) {
  exports.Set("FrameSealer", FrameSealer::DefineClass(env, "FrameSealer",
                                                      {FrameSealer::InstanceMethod<&FrameSealer::Seal>("seal"),
                                                       FrameSealer::InstanceMethod<&FrameSealer::Close>("close")}));
  exports.Set("FrameOpener", FrameOpener::DefineClass(env, "FrameOpener",
                                                      {FrameOpener::InstanceMethod<&FrameOpener::Open>("open"),
                                                       FrameOpener::InstanceMethod<&FrameOpener::Close>("close")}));
  exports.Set("bodyBytes", Napi::Function::New<BodyBytes>(env, "bodyBytes"));
  exports.Set("hasHardwareAes", Napi::Function::New<HasHardwareAes>(env, "hasHardwareAes"));
  exports.Set("libcryptoVersion", Napi::Function::New<LibcryptoVersion>(env, "libcryptoVersion"));
}

}  // namespace keibi::napi
