// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/fd.h"

namespace keibi::relay {

// Bytes between two sockets, held by the kernel. One file per system, chosen by the build.
class Pipe {
 public:
  static std::unique_ptr<Pipe> Open();  // null with errno set

  // Both return like splice(2): the bytes moved, 0 when the other side has ended, -1 with errno. EAGAIN from Fill into
  // an empty pipe: nothing has arrived. EAGAIN from Drain: no room at `to`.
  ssize_t Fill(int from, size_t most);
  ssize_t Drain(int to);
  size_t held() const { return held_; }

 private:
  core::Fd read_, write_;
  size_t held_ = 0;
};

// Empty pipes. Only a direction with a slow reader keeps one, so that an idle pair costs two descriptors. One thread.
class PipePool {
 public:
  std::unique_ptr<Pipe> Take();             // null with errno set
  void Return(std::unique_ptr<Pipe> pipe);  // closes a pipe that still holds bytes

 private:
  std::vector<std::unique_ptr<Pipe>> free_;
};

}  // namespace keibi::relay
