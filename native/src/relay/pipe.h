// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/fd.h"

namespace keibi::relay {

// Bytes on their way from one socket to another, held by the kernel. One file per system, chosen by the build.
class Pipe {
 public:
  static std::unique_ptr<Pipe> Open();  // null with errno set

  // What splice(2) answers: the bytes moved, 0 when the other side has ended, -1 with errno. EAGAIN of Fill into an
  // empty pipe: nothing has arrived. EAGAIN of Drain: no room at `to`.
  ssize_t Fill(int from, size_t most);
  ssize_t Drain(int to);
  size_t held() const { return held_; }

 private:
  core::Fd read_, write_;
  size_t held_ = 0;
};

// Empty pipes: only a direction whose reader is slow keeps one, so that idle pairs cost two descriptors each. One
// thread.
class PipePool {
 public:
  std::unique_ptr<Pipe> Take();             // null with errno set
  void Return(std::unique_ptr<Pipe> pipe);  // one that holds bytes is closed

 private:
  std::vector<std::unique_ptr<Pipe>> free_;
};

}  // namespace keibi::relay
