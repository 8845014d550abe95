// SPDX-License-Identifier: MPL-2.0
#include "mount/put_waiters.h"

#include <algorithm>
#include <utility>

namespace keibi::mount {

void PutWaiters::Add(For what, Time until, Then then, uint64_t changes) {
  waiters_.push_back({what, until, std::move(then), changes});
}

bool PutWaiters::Has(For what) const {
  return std::any_of(waiters_.begin(), waiters_.end(), [&](const Waiter& one) { return one.what == what; });
}

template <typename Ends>
void PutWaiters::End(Ends ends, int error, DeferredCalls* calls) {
  std::vector<Waiter> left;
  for (Waiter& one : waiters_) {
    if (ends(one)) {
      calls->Add([then = std::move(one.then), error] { then(error); });
    } else {
      left.push_back(std::move(one));
    }
  }
  waiters_ = std::move(left);
}

void PutWaiters::Fulfil(const Progress& progress, DeferredCalls* calls) {
  const auto ends = [&](const Waiter& one) {
    switch (one.what) {
      case For::kIdle:
        return true;
      case For::kClosed:
        return progress.sent || progress.changes >= one.changes;
      case For::kSent:
        return progress.sent;
      case For::kSynced:
        return progress.synced;
    }
    return false;
  };
  End(ends, 0, calls);
}

void PutWaiters::Fail(int error, DeferredCalls* calls) {
  End([](const Waiter& one) { return one.what != For::kIdle; }, error, calls);
}

void PutWaiters::Expire(Time now, int error, DeferredCalls* calls) {
  End([&](const Waiter& one) { return now >= one.until; }, error, calls);
}

void PutWaiters::LetClose(DeferredCalls* calls) {
  End([](const Waiter& one) { return one.what == For::kClosed; }, 0, calls);
}

}  // namespace keibi::mount
