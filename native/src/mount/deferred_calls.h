// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace keibi::mount {

// Callbacks collected while a lock is held. Declare it before the lock: it runs them when it goes out of scope, after
// the lock is released. One thread.
class DeferredCalls {
 public:
  DeferredCalls() = default;
  DeferredCalls(const DeferredCalls&) = delete;
  DeferredCalls& operator=(const DeferredCalls&) = delete;
  ~DeferredCalls() {
    for (const auto& call : calls_) call();
  }

  void Add(std::function<void()> call) { calls_.push_back(std::move(call)); }

 private:
  std::vector<std::function<void()>> calls_;
};

}  // namespace keibi::mount
