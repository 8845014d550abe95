// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/status.h"
#include "frame/rekey.h"
#include "net/lane_dial.h"
#include "net/lane_state.h"

namespace keibi::remote {

// The lanes that a guest's job has dialled for the current session, each with its own thread, and the work common to
// all such jobs. Add and Join take the job's mutex; call everything else with it held.
template <typename LaneType>
class GuestLanes {
 public:
  using Clock = std::chrono::steady_clock;
  struct Lane {
    std::unique_ptr<LaneType> lane;
    std::thread thread;
    Clock::time_point heard = Clock::now();
    bool ended = false;     // the lane is no longer used
    bool finished = false;  // and its thread takes no lock of the job any more
  };
  using Lanes = std::vector<std::unique_ptr<Lane>>;

  // `stopped` makes dials give up soon. After it is set and EndSession was called, no lane is added.
  GuestLanes(std::mutex* mutex, const std::atomic<bool>* stopped) : mutex_(mutex), stopped_(stopped) {}

  // Dials one lane (lane_dial.h), creates it, and runs it on its own thread; may block. kCancelled if its session has
  // ended meanwhile, the lane already exists, or there are kMaxLanes lanes.
  template <typename Make, typename Run>
  core::Status Add(const net::LanePlace& place, uint32_t number, const net::ExpectedLanes& session, Make make,
                   Run run) {
    std::shared_ptr<frame::RekeySecrets> rekeys;
    uint32_t of_session = 0;
    {
      const std::scoped_lock lock(*mutex_);
      rekeys = rekeys_;
      of_session = session_;
    }
    net::DialledLane dialled;
    if (const core::Status status = net::DialLane(place, number, session, std::move(rekeys), *stopped_, &dialled);
        !status.ok()) {
      return status;
    }
    const std::scoped_lock lock(*mutex_);
    if (*stopped_ || of_session != session_) return core::Status::Of(core::Code::kCancelled);
    Reap();
    if (Find(number) != nullptr || lanes_.size() >= core::kMaxLanes) return core::Status::Of(core::Code::kCancelled);
    auto added = std::make_unique<Lane>();
    Lane* const running = added.get();
    running->lane = make(std::move(dialled));
    running->thread = std::thread([run, running] { run(running); });
    lanes_.push_back(std::move(added));
    return core::Status::Ok();
  }

  // Marks a lane as no longer used; called by its thread.
  void Ended(Lane* lane) {
    lane->ended = true;
    bytes_of_ended_ += lane->lane->bytes();
  }

  // Ends the session: shuts its lanes down and returns them for Join(), which waits for them.
  Lanes EndSession() {
    session_++;
    rekeys_ = std::make_shared<frame::RekeySecrets>();
    for (const auto& each : lanes_) each->lane->Shutdown();
    return std::exchange(lanes_, {});
  }
  void Join(const Lanes& lanes) {
    for (const auto& each : lanes) each->thread.join();
    const std::scoped_lock lock(*mutex_);
    bytes_of_ended_ = 0;
  }

  // The lanes in use.
  auto live() const {
    return lanes_ | std::views::filter([](const auto& each) { return !each->ended; });
  }
  // Null if there is none.
  Lane* Find(uint32_t number) const {
    for (const auto& each : live()) {
      if (each->lane->number() == number) return each.get();
    }
    return nullptr;
  }

  frame::RekeySecrets& rekeys() { return *rekeys_; }  // that readers can follow to (PROTOCOL 4.3)
  uint32_t session() const { return session_; }       // how many have ended

  std::vector<net::LaneState> states() const {
    std::vector<net::LaneState> states;
    for (const auto& each : live())
      states.push_back({each->lane->number(), each->lane->bytes(), 0, each->lane->path()});
    return states;
  }

  // Bytes on the wire in this session.
  uint64_t bytes() const {
    uint64_t bytes = bytes_of_ended_;
    for (const auto& each : live()) bytes += each->lane->bytes();
    return bytes;
  }

 private:
  void Reap() {
    std::erase_if(lanes_, [](const std::unique_ptr<Lane>& lane) {
      if (lane->finished) lane->thread.join();
      return lane->finished;
    });
  }

  std::mutex* const mutex_;
  const std::atomic<bool>* const stopped_;
  Lanes lanes_;
  std::shared_ptr<frame::RekeySecrets> rekeys_ = std::make_shared<frame::RekeySecrets>();
  uint32_t session_ = 0;
  uint64_t bytes_of_ended_ = 0;
};

}  // namespace keibi::remote
