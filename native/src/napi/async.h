// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <functional>
#include <string>

#include "core/status.h"

namespace keibi::napi {

using Work = std::function<core::Status()>;            // on a pool thread; may block
using Result = std::function<Napi::Value(Napi::Env)>;  // on the JavaScript thread, after the work succeeded

// Argument `i`, which native/lib has checked to be a string.
inline std::string TextAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::String>().Utf8Value(); }

// Runs `work` off the JavaScript thread. The promise resolves with `result`, or rejects with the status. Captured
// values live until then.
Napi::Promise RunAsync(Napi::Env env, Work work, Result result = {});

}  // namespace keibi::napi
