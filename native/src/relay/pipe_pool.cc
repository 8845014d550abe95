// SPDX-License-Identifier: MPL-2.0
#include <utility>

#include "relay/pipe.h"

namespace keibi::relay {
namespace {

constexpr size_t kMostFree = 16;

}  // namespace

std::unique_ptr<Pipe> PipePool::Take() {
  if (free_.empty()) return Pipe::Open();
  std::unique_ptr<Pipe> pipe = std::move(free_.back());
  free_.pop_back();
  return pipe;
}

void PipePool::Return(std::unique_ptr<Pipe> pipe) {
  if (pipe->held() == 0 && free_.size() < kMostFree) free_.push_back(std::move(pipe));
}

}  // namespace keibi::relay
