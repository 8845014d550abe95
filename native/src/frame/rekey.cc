// SPDX-License-Identifier: MPL-2.0
#include "frame/rekey.h"

#include <utility>

namespace keibi::frame {

void RekeySecrets::Add(uint32_t number, Key secret) {
  const std::scoped_lock lock(mutex_);
  if (number != newest_.load() + 1) return;
  secrets_.emplace(number, std::move(secret));
  if (number > kKept) secrets_.erase(number - kKept);
  newest_.store(number);
}

bool RekeySecrets::Get(uint32_t number, Key* secret) const {
  const std::scoped_lock lock(mutex_);
  const auto found = secrets_.find(number);
  if (found == secrets_.end()) return false;
  *secret = found->second.Clone();
  return true;
}

}  // namespace keibi::frame
