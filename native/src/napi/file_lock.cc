// SPDX-License-Identifier: MPL-2.0
#include <sys/file.h>

#include <cerrno>

#include "napi/errors.h"
#include "napi/module.h"

namespace keibi::napi {
namespace {

// (fd) -> whether it now holds the lock of its file. Never waits.
Napi::Value TryLock(const Napi::CallbackInfo& info) {
  int result = 0;
  do {
    result = flock(info[0].As<Napi::Number>().Int32Value(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return Napi::Boolean::New(info.Env(), true);
  if (errno == EWOULDBLOCK) return Napi::Boolean::New(info.Env(), false);
  MakeSystemError(info.Env(), "flock", errno).ThrowAsJavaScriptException();
  return info.Env().Undefined();
}

}  // namespace

void InitFileLock(Napi::Env env, Napi::Object exports) {
  exports.Set("tryLock", Napi::Function::New<TryLock>(env, "tryLock"));
}

}  // namespace keibi::napi
