// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include "core/status.h"

namespace keibi::napi {

const char* CodeName(core::Code code);  // the ErrorCode of packages/protocol/src/errors.ts

// The only maker of JavaScript errors: an Error with `code` and, where the system gave an errno, `errno` (negative, as
// in Node) and `errnoName`. Its message is a sentence without paths or secrets. `status` is not ok.
Napi::Error MakeError(Napi::Env env, core::Status status);

// An error in Node's own form: `code` is the errno's name, such as 'EADDRINUSE'.
Napi::Error MakeSystemError(Napi::Env env, const char* syscall, int system_error);

// Throws MakeError(env, status) into JavaScript; the caller returns at once.
void Throw(Napi::Env env, core::Status status);

}  // namespace keibi::napi
