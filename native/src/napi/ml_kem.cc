// SPDX-License-Identifier: MPL-2.0
#include "kem/ml_kem.h"

#include <cassert>

#include "napi/errors.h"
#include "napi/module.h"

// ML-KEM-1024 for native/lib/ml-kem.ts, which has checked every argument and allocated every output.
namespace keibi::napi {
namespace {

uint8_t* KeyBytes(const Napi::Value& value, [[maybe_unused]] size_t bytes) {
  auto array = value.As<Napi::Uint8Array>();
  assert(array.ByteLength() == bytes);
  return array.Data();
}

Napi::Value Undefined(const Napi::CallbackInfo& info, core::Status status) {
  if (!status.ok()) Throw(info.Env(), status);
  return info.Env().Undefined();
}

// (public key, secret key) -> void; both are written
Napi::Value Generate(const Napi::CallbackInfo& info) {
  return Undefined(
      info, kem::GenerateMlKem1024(KeyBytes(info[0], kem::kPublicKeyBytes), KeyBytes(info[1], kem::kSecretKeyBytes)));
}

// (public key, ciphertext, shared secret) -> void; the latter two are written
Napi::Value Encapsulate(const Napi::CallbackInfo& info) {
  return Undefined(
      info, kem::EncapsulateMlKem1024(KeyBytes(info[0], kem::kPublicKeyBytes), KeyBytes(info[1], kem::kCiphertextBytes),
                                      KeyBytes(info[2], kem::kSharedSecretBytes)));
}

// (secret key, ciphertext, shared secret) -> void; the last is written
Napi::Value Decapsulate(const Napi::CallbackInfo& info) {
  return Undefined(
      info, kem::DecapsulateMlKem1024(KeyBytes(info[0], kem::kSecretKeyBytes), KeyBytes(info[1], kem::kCiphertextBytes),
                                      KeyBytes(info[2], kem::kSharedSecretBytes)));
}

}  // namespace

void InitMlKem(Napi::Env env, Napi::Object exports) {
  if (!kem::HasMlKem1024()) return;
  exports.Set("mlKemGenerate", Napi::Function::New<Generate>(env, "mlKemGenerate"));
  exports.Set("mlKemEncapsulate", Napi::Function::New<Encapsulate>(env, "mlKemEncapsulate"));
  exports.Set("mlKemDecapsulate", Napi::Function::New<Decapsulate>(env, "mlKemDecapsulate"));
}

}  // namespace keibi::napi
