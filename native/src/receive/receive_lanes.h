// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/status.h"
#include "frame/rekey.h"
#include "net/lane_acceptor.h"
#include "net/lane_end.h"
#include "net/lane_state.h"
#include "net/rate_limiter.h"
#include "receive/receive_lane.h"
#include "relay/wire.h"

namespace keibi::receive {

// The lanes of one receiving job: dials them and runs each on its own thread.
class ReceiveLanes {
 public:
  using OnEnd = std::function<void(net::LaneEnd)>;  // on the lane's thread, once

  // `stopped` makes dials give up soon. After it is set and Shutdown was called, no lane is added.
  ReceiveLanes(SegmentSink* sink, net::RateLimiter* limiter, const std::atomic<bool>& stopped,
               std::shared_ptr<frame::RekeySecrets> rekeys, OnEnd on_end)
      : sink_(sink), limiter_(limiter), stopped_(stopped), rekeys_(std::move(rekeys)), on_end_(std::move(on_end)) {}

  // Dials one lane and sends its hello (PROTOCOL 5.1); may block. With a token, `host` is a relay to join first (2.3).
  // With `from_port`, dials from that port while the sender dials us (2.5).
  core::Status Add(const std::string& host, uint16_t port, uint32_t lane, const net::ExpectedLanes& session,
                   const std::optional<relay::Token>& token = std::nullopt,
                   std::optional<uint16_t> from_port = std::nullopt);
  void Cut(uint32_t lane);  // ends it soon, which on_end reports; does nothing if there is none
  std::vector<net::LaneState> states() const;
  void Shutdown();  // all of them
  void Join();      // after Shutdown: waits, and frees them

 private:
  struct Lane {
    uint32_t number;
    std::unique_ptr<ReceiveLane> lane;
    std::thread thread;
    bool ended = false;
  };

  void ReapLocked();

  SegmentSink* const sink_;
  net::RateLimiter* const limiter_;
  const std::atomic<bool>& stopped_;
  const std::shared_ptr<frame::RekeySecrets> rekeys_;
  const OnEnd on_end_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace keibi::receive
