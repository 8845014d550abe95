// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "mount/deferred_calls.h"

namespace keibi::mount {

// Callbacks that wait for the puts of one file. Each is called once: with 0, or with an errno. No lock: the owner's
// guards it.
class PutWaiters {
 public:
  using Then = std::function<void(int error)>;
  using Time = std::chrono::steady_clock::time_point;
  // kIdle: no put is under way. kClosed: the changes made so far are put. kSent: all changes are put. kSynced: they are
  // also on the other peer's disk.
  enum class For { kIdle, kClosed, kSent, kSynced };
  // The changes that the other peer has.
  struct Progress {
    bool sent = false;
    bool synced = false;
    uint64_t changes = 0;
  };

  // `changes`: for kClosed, the changes to wait for.
  void Add(For what, Time until, Then then, uint64_t changes = 0);
  bool Has(For what) const;
  bool empty() const { return waiters_.empty(); }

  // Each of these removes some, to be called with `calls`.
  void Fulfil(const Progress& progress, DeferredCalls* calls);  // call while no put is under way
  void Fail(int error, DeferredCalls* calls);                   // all but kIdle
  void Expire(Time now, int error, DeferredCalls* calls);
  // While the other peer is away, close(2) does not wait for it.
  void LetClose(DeferredCalls* calls);

 private:
  struct Waiter {
    For what;
    Time until;
    Then then;
    uint64_t changes;
  };

  template <typename Ends>
  void End(Ends ends, int error, DeferredCalls* calls);

  std::vector<Waiter> waiters_;
};

}  // namespace keibi::mount
