// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/limits.h"
#include "frame/frame.h"
#include "manifest/segment.h"

namespace keibi::net {

// Room for one frame of any size, aligned so that the bytes of the frame's first segment begin on a cache line.
class LaneBuffer {
 public:
  static constexpr size_t kFrameBytes = frame::kOverheadBytes + core::kMaxFramePlaintext;
  static constexpr size_t kFirstData = frame::kHeaderBytes + 1 + manifest::Segment::kHeaderBytes;

  LaneBuffer() : memory_(static_cast<uint8_t*>(std::aligned_alloc(kLine, RoundUp(kLine + kFrameBytes)))) {
    if (!memory_) std::abort();
  }
  uint8_t* frame() { return memory_.get() + (kLine - kFirstData % kLine) % kLine; }
  uint8_t* plaintext() { return frame() + frame::kHeaderBytes; }

 private:
  static constexpr size_t kLine = 64;
  static constexpr size_t RoundUp(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };

  std::unique_ptr<uint8_t, Free> memory_;
};

}  // namespace keibi::net
