// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "frame/frame.h"

namespace keibi::frame {

// The secrets of a session's later key exchanges (PROTOCOL 4.3), shared by all lanes of one direction. Any thread.
//
// A writer moves to the newest secret at once, so add one only when the reader is known to have it.
class RekeySecrets {
 public:
  // `number` is one more than the last; anything else is ignored.
  void Add(uint32_t number, Key secret);

  uint32_t newest() const { return newest_.load(); }  // 0: none yet
  bool Get(uint32_t number, Key* secret) const;

 private:
  static constexpr uint32_t kKept = 16;  // a lane that lags needs older secrets; at 64 GiB each no lane lags further

  std::atomic<uint32_t> newest_ = 0;
  mutable std::mutex mutex_;
  std::map<uint32_t, Key> secrets_;
};

}  // namespace keibi::frame
