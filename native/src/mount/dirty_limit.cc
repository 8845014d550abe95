// SPDX-License-Identifier: MPL-2.0
#include "mount/dirty_limit.h"

#include <cerrno>

namespace keibi::mount {

void DirtyLimit::AddFile() {
  const std::scoped_lock lock(mutex_);
  files_++;
}

void DirtyLimit::RemoveFile() {
  const std::scoped_lock lock(mutex_);
  files_--;
}

bool DirtyLimit::IsFull() const {
  const std::scoped_lock lock(mutex_);
  return !writers_.empty() || IsReachedLocked();
}

bool DirtyLimit::HasWriters() const {
  const std::scoped_lock lock(mutex_);
  return !writers_.empty();
}

void DirtyLimit::Wait(Time until, Then then) {
  const std::scoped_lock lock(mutex_);
  writers_.emplace_back(until, std::move(then));
}

void DirtyLimit::LetWrite(DeferredCalls* calls) {
  const std::scoped_lock lock(mutex_);
  while (!writers_.empty() && !IsReachedLocked()) {
    calls->Add([then = std::move(writers_.front().second)] { then(0); });
    writers_.pop_front();
  }
}

void DirtyLimit::Expire(Time now, DeferredCalls* calls) {
  const std::scoped_lock lock(mutex_);
  while (!writers_.empty() && now >= writers_.front().first) {
    calls->Add([then = std::move(writers_.front().second)] { then(ETIMEDOUT); });
    writers_.pop_front();
  }
}

}  // namespace keibi::mount
