// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::core {

// Reports which descriptors became readable or, where requested, writable. Edge-triggered: each change is reported
// once, so a reader or writer continues until EAGAIN. One thread at a time, except Wake. One file per system, chosen by
// the build.
class Poller {
 public:
  Status Open();

  // Wait reports this descriptor as `id`. A condition that already holds is reported too.
  bool Add(int fd, uint64_t id);
  bool AddForWriting(int fd, uint64_t id);  // and for reading
  // Call before another owner takes the descriptor; closing its last copy removes it as well.
  void Remove(int fd);

  // Replaces `ready` by the ids with something to report. Returns when there is one, after `timeout_ms` (-1: never) or
  // on Wake.
  void Wait(int timeout_ms, std::vector<uint64_t>* ready);
  void Wake();  // any thread

 private:
  Fd poll_;
  Fd wake_;
};

}  // namespace keibi::core
