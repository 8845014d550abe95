// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

// The part of the addon's exports that each file of napi/ adds. On the JavaScript thread of the env that loads it; envs
// share nothing here.
namespace keibi::napi {

void InitBench(Napi::Env env, Napi::Object exports);
void InitCacheFill(Napi::Env env, Napi::Object exports);
void InitChangeWatch(Napi::Env env, Napi::Object exports);
void InitDial(Napi::Env env, Napi::Object exports);
void InitFileLock(Napi::Env env, Napi::Object exports);
void InitFolderWrites(Napi::Env env, Napi::Object exports);
void InitFrame(Napi::Env env, Napi::Object exports);
void InitListener(Napi::Env env, Napi::Object exports);
void InitLockTable(Napi::Env env, Napi::Object exports);
void InitMlKem(Napi::Env env, Napi::Object exports);
void InitRateBudget(Napi::Env env, Napi::Object exports);
void InitReadJob(Napi::Env env, Napi::Object exports);
void InitReceiveJob(Napi::Env env, Napi::Object exports);
void InitSendJob(Napi::Env env, Napi::Object exports);
void InitServeJob(Napi::Env env, Napi::Object exports);
void InitSharedFolder(Napi::Env env, Napi::Object exports);
void InitUnsendable(Napi::Env env, Napi::Object exports);
void InitWriteJob(Napi::Env env, Napi::Object exports);

}  // namespace keibi::napi
