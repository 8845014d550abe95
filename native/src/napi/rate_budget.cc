// SPDX-License-Identifier: MPL-2.0
#include "napi/rate_budget.h"

#include "napi/module.h"

namespace keibi::napi {
namespace {

constexpr napi_type_tag kRateBudgetTag = {0x5c1e83d2f7a94b06, 0x9b3f26d8407ce15a};

}  // namespace

Napi::Function RateBudget::Define(Napi::Env env) {
  return DefineClass(env, "RateBudget", {InstanceMethod<&RateBudget::Hold>("hold")});
}

std::shared_ptr<net::RateBudget> RateBudget::From(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kRateBudgetTag)) return nullptr;
  return Unwrap(value.As<Napi::Object>())->budget_;
}

RateBudget::RateBudget(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<RateBudget>(info),
      budget_(std::make_shared<net::RateBudget>(static_cast<uint64_t>(info[0].As<Napi::Number>().Int64Value()))) {
  info.This().As<Napi::Object>().TypeTag(&kRateBudgetTag);
}

void RateBudget::Hold(const Napi::CallbackInfo& info) { budget_->Hold(info[0].As<Napi::Boolean>().Value()); }

void InitRateBudget(Napi::Env env, Napi::Object exports) { exports.Set("RateBudget", RateBudget::Define(env)); }

}  // namespace keibi::napi
