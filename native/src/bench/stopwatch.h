// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>

namespace keibi::bench {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count(); }

 private:
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace keibi::bench
