// SPDX-License-Identifier: MPL-2.0
#include "napi/module.h"

#include "aead/libcrypto.h"

namespace keibi::napi {
namespace {

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  aead::PrepareLibcrypto();
  InitBench(env, exports);
  InitCacheFill(env, exports);
  InitChangeWatch(env, exports);
  InitDial(env, exports);
  InitFileLock(env, exports);
  InitFolderWrites(env, exports);
  InitFrame(env, exports);
  InitListener(env, exports);
  InitLockTable(env, exports);
  InitMlKem(env, exports);
  InitRateBudget(env, exports);
  InitReadJob(env, exports);
  InitReceiveJob(env, exports);
  InitSendJob(env, exports);
  InitServeJob(env, exports);
  InitSharedFolder(env, exports);
  InitUnsendable(env, exports);
  InitWriteJob(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(keibidrop, Init)

}  // namespace keibi::napi
