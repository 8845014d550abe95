// SPDX-License-Identifier: MPL-2.0
#include <napi.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "core/fd.h"
#include "napi/async.h"
#include "napi/module.h"
#include "net/socket.h"

namespace keibi::napi {
namespace {

// The native half of native/lib/dial.ts: one connection from a chosen local port.
class Dial : public Napi::ObjectWrap<Dial> {
 public:
  // (from port, host, port, timeout ms, insist)
  explicit Dial(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<Dial>(info), stopped_(std::make_shared<std::atomic<bool>>(false)) {
    const auto number = [&info](size_t i) { return info[i].As<Napi::Number>().Uint32Value(); };
    from_port_ = static_cast<uint16_t>(number(0));
    host_ = info[1].As<Napi::String>().Utf8Value();
    port_ = static_cast<uint16_t>(number(2));
    timeout_ = std::chrono::milliseconds(number(3));
    insist_ = info[4].ToBoolean();
  }
  ~Dial() override { stopped_->store(true); }

  // () -> Promise<fd>; may be called only once
  Napi::Value Open(const Napi::CallbackInfo& info) {
    const auto fd = std::make_shared<core::Fd>();
    return RunAsync(
        info.Env(),
        [from = from_port_, host = host_, port = port_, timeout = timeout_, insist = insist_, stopped = stopped_, fd] {
          return insist ? net::DialThrough(from, host, port, timeout, *stopped, fd.get())
                        : net::Dial(host, port, timeout, *stopped, fd.get(), from);
        },
        [fd](Napi::Env env) { return Napi::Number::New(env, fd->release()); });
  }

  // () -> void; the promise rejects soon
  Napi::Value Cancel(const Napi::CallbackInfo& info) {
    stopped_->store(true);
    return info.Env().Undefined();
  }

 private:
  const std::shared_ptr<std::atomic<bool>> stopped_;
  uint16_t from_port_ = 0, port_ = 0;
  std::string host_;
  std::chrono::milliseconds timeout_{0};
  bool insist_ = false;
};

}  // namespace

void InitDial(Napi::Env env, Napi::Object exports) {
  exports.Set("Dial", Dial::DefineClass(
                          env, "Dial",
                          {Dial::InstanceMethod<&Dial::Open>("open"), Dial::InstanceMethod<&Dial::Cancel>("cancel")}));
}

}  // namespace keibi::napi
