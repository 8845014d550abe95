// SPDX-License-Identifier: MPL-2.0
#include "bench/cipher.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bench/stopwatch.h"
#include "core/limits.h"
#include "core/synthetic_data.h"
#include "frame/frame.h"
#include "manifest/digest.h"

namespace keibi::bench {

using core::Code;
using core::Status;

namespace {

// Frames in one turn: enough that the clock is read rarely, few enough that they stay in a core's cache, like a lane's
// single buffer.
constexpr size_t kTurn = 4;
constexpr size_t kFrameBytes = core::kChunkBytes + frame::kOverheadBytes;

double Seconds(std::chrono::milliseconds budget) { return std::chrono::duration<double>(budget).count(); }

}  // namespace

Status MeasureSuite(aead::Suite suite, std::chrono::milliseconds budget, const std::atomic<bool>& stopped,
                    SuiteSpeed* speed) {
  const uint8_t key[aead::kKeyBytes] = {};  // protects no real data
  frame::Sealer sealer(suite, frame::Key(key));
  frame::Opener opener(suite, frame::Key(key));
  std::array<std::vector<uint8_t>, kTurn> frames;
  for (std::vector<uint8_t>& frame : frames) {
    frame.resize(kFrameBytes);
    core::FillWithSyntheticData(0, frame.data() + frame::kHeaderBytes, core::kChunkBytes);
  }
  double seal = 0, open = 0, bytes = 0;
  do {
    if (stopped.load()) return Status::Of(Code::kCancelled);
    const Stopwatch sealing;
    for (std::vector<uint8_t>& frame : frames) {
      if (sealer.Seal(frame.data(), core::kChunkBytes) != kFrameBytes) return Status::Of(Code::kInternal);
    }
    seal += sealing.seconds();
    const Stopwatch opening;
    for (std::vector<uint8_t>& frame : frames) {
      size_t opened = 0;
      if (const Status status = opener.Open(frame.data(), frame.size(), &opened); !status.ok()) return status;
    }
    open += opening.seconds();
    bytes += kTurn * core::kChunkBytes;
  } while (seal + open < Seconds(budget));
  *speed = {bytes / seal, bytes / open};
  return Status::Ok();
}

Status MeasureSha256(std::chrono::milliseconds budget, const std::atomic<bool>& stopped, double* bytes_per_second) {
  std::vector<uint8_t> chunk(core::kChunkBytes);
  core::FillWithSyntheticData(0, chunk.data(), chunk.size());
  uint8_t digest[manifest::kDigestBytes];
  double bytes = 0;
  const Stopwatch watch;
  do {
    if (stopped.load()) return Status::Of(Code::kCancelled);
    if (EVP_Digest(chunk.data(), chunk.size(), digest, nullptr, EVP_sha256(), nullptr) != 1)
      return Status::Of(Code::kInternal);
    bytes += static_cast<double>(chunk.size());
  } while (watch.seconds() < Seconds(budget));
  *bytes_per_second = bytes / watch.seconds();
  return Status::Ok();
}

}  // namespace keibi::bench
