// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <napi.h>

#include <memory>

#include "net/rate_limiter.h"

namespace keibi::napi {

// The native half of native/lib/rate-budget.ts. JavaScript thread only; the budget itself is shared with jobs.
class RateBudget : public Napi::ObjectWrap<RateBudget> {
 public:
  static Napi::Function Define(Napi::Env env);

  // The budget wrapped by `value`; null, which means no limit, if it is something else.
  static std::shared_ptr<net::RateBudget> From(const Napi::Value& value);

  // (bytes per second)
  explicit RateBudget(const Napi::CallbackInfo& info);

 private:
  // (held) -> undefined
  void Hold(const Napi::CallbackInfo& info);

  std::shared_ptr<net::RateBudget> budget_;
};

}  // namespace keibi::napi
