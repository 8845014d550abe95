// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/status.h"
#include "net/lane_end.h"
#include "send/send_lane.h"
#include "send/send_queue.h"

namespace keibi::send {

// The lanes of one sending job, each on its own thread. Unacknowledged work of a closed lane goes to the other lanes
// once the receiver has reported how much it took (PROTOCOL 5.3). Any thread.
class SendLanes {
 public:
  struct Events {
    std::function<void(net::LaneEnd)> ended;  // on the lane's thread, once per lane
    std::function<void(uint32_t)> moved;      // the rest of a lane that the receiver closed is queued again
    // the rest cannot be queued again: it belongs to a stream, which is read once
    std::function<void(uint32_t)> stranded;
  };

  SendLanes(SendQueue* queue, Events events) : queue_(queue), events_(std::move(events)) {}

  // Returns false and drops the lane when the receiver has already closed it, or there are too many.
  bool Add(uint32_t number, std::unique_ptr<SendLane> lane);

  // The receiver has taken `frames` frames of a lane. Ends lanes whose path has been silent for too long.
  // kHandshakeMalformed when more were taken than sent.
  core::Status Acknowledge(uint32_t number, uint64_t frames);
  void CutSilent();

  // The receiver has closed its end of a lane after `frames` frames. The lane may never have arrived here.
  core::Status Close(uint32_t number, uint64_t frames);

  void Retire(uint32_t number);  // ends it with an end frame, after the current frame

  void Shutdown();  // all lanes; no more arrive
  void Join();      // call after Shutdown: waits for the lanes, then frees them

 private:
  struct Lane {
    uint32_t number;
    std::unique_ptr<SendLane> lane;
    std::thread thread;
    bool ended = false, closed = false, settled = false;
  };

  void Run(Lane* lane);
  Lane* FindLocked(uint32_t number);
  void Settle(Lane* lane);
  void ReapLocked();

  SendQueue* const queue_;
  const Events events_;
  std::mutex mutex_;
  bool shut_ = false;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::set<uint32_t> closed_;  // by the receiver: these numbers do not come again
};

}  // namespace keibi::send
