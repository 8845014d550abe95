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
#include "stream/lane_end.h"
#include "stream/send_lane.h"
#include "stream/send_queue.h"

namespace keibi::stream {

// The lanes of one sending job, each on a thread of its own. What a lane has sent and the receiver has not taken goes
// to the others once the receiver has said how much it took (PROTOCOL 5.3). Any thread.
class SendLanes {
 public:
  struct Events {
    std::function<void(LaneEnd)> ended;      // on the lane's thread, once for each
    std::function<void(uint32_t)> moved;     // the rest of a lane that the receiver closed is in the queue again
    std::function<void(uint32_t)> stranded;  // it cannot be: it was of a stream, which is read once
  };

  SendLanes(SendQueue* queue, Events events) : queue_(queue), events_(std::move(events)) {}

  // False, and the lane is dropped, when the receiver has closed it already or has too many.
  bool Add(uint32_t number, std::unique_ptr<SendLane> lane);

  // The receiver has taken so many frames of a lane. Ends lanes whose path has been silent for too long.
  // kHandshakeMalformed when they are more than were sent.
  core::Status Acknowledge(uint32_t number, uint64_t frames);
  void CutSilent();

  // The receiver's end of a lane is closed; it has taken so many frames. Also of one that never came here.
  core::Status Close(uint32_t number, uint64_t frames);

  void Retire(uint32_t number);  // it says its goodbye after the frame it is at

  void Shutdown();  // all; none comes any more
  void Join();      // after Shutdown: waits, and frees them

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
  std::set<uint32_t> closed_;  // by the receiver: they do not come any more
};

}  // namespace keibi::stream
