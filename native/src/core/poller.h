// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/fd.h"
#include "core/status.h"

namespace keibi::core {

// Tells which descriptors became readable or, where asked, writable. Edge-triggered: each change is reported once, so a
// reader or writer goes on until EAGAIN. One thread at a time, but Wake. One file per system, chosen by the build.
class Poller {
 public:
  Status Open();

  // `id` is what Wait says of this descriptor; what is so already is reported too.
  bool Add(int fd, uint64_t id);
  bool AddForWriting(int fd, uint64_t id);  // and for reading
  // Before a descriptor is handed to somebody else; closing the last copy of one removes it as well.
  void Remove(int fd);

  // Replaces `ready` by the ids of which something is to be told. Returns when there is one, after `timeout_ms` (-1:
  // never) or on Wake.
  void Wait(int timeout_ms, std::vector<uint64_t>* ready);
  void Wake();  // any thread

 private:
  Fd poll_;
  Fd wake_;
};

}  // namespace keibi::core
