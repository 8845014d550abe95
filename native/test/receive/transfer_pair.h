// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "disk_tree.h"
#include "frame/frames.h"
#include "net/listener.h"
#include "receive/receive_job.h"
#include "send/send_job.h"

namespace keibi::test {

// Counts wakes, so that a test waits for news instead of sleeping.
class Bell {
 public:
  core::Wake wake() {
    return [this] {
      const std::scoped_lock lock(mutex_);
      rung_ = true;
      changed_.notify_all();
    };
  }
  void Wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

struct PairOptions {
  uint32_t lanes = 1;
  aead::Suite suite = aead::Suite::kAes256Gcm;
  receive::Collision collisions = receive::Collision::kRename;
  std::shared_ptr<net::RateBudget> send_budget = nullptr;
  std::shared_ptr<net::RateBudget> receive_budget = nullptr;
  std::vector<send::Root> generated = {};  // offered instead of the source
  uint32_t discard = manifest::kTop;       // an entry that the receiver only counts
  bool durable = false;
  bool repair = false;  // report ended lanes to the sender
};

// A sending and a receiving job joined by real lanes over loopback; this thread replaces the control connection.
class Pair {
 public:
  Pair(const fs::path& source, const fs::path& out, PairOptions options = {}) : options_(options) {
    EXPECT_TRUE(net::Listener::Open(
                    {.host = "127.0.0.1"}, [](net::Incoming) {}, &listener_)
                    .ok());
    std::vector<send::Root> roots = options.generated;
    if (roots.empty()) roots.push_back({source.string(), source.filename().string()});
    sender = std::make_shared<send::SendJob>(send::SendOptions{std::move(roots), options.send_budget}, bell_.wake());
    receive::ReceiveOptions receive;
    receive.out = out.string();
    receive.collisions = options.collisions;
    receive.report_placed = true;
    receive.budget = options.receive_budget;
    receive.durable = options.durable;
    receiver = std::make_unique<receive::ReceiveJob>(std::move(receive), bell_.wake());
    listener_->Expect(Session(frame::Role::kResponder), sender);
  }
  ~Pair() {
    listener_->Stop();
    receiver->Stop();
    sender->Stop();
  }

  net::ExpectedLanes Session(frame::Role self) const { return {{1, 2, 3}, KeyOf(4), options_.suite, self}; }

  void Open() {
    ASSERT_TRUE(receiver->Open().ok());
    for (uint32_t lane = 0; lane < options_.lanes; lane++) ASSERT_TRUE(AddLane(lane).ok());
    sender->Start();
  }
  core::Status AddLane(uint32_t lane) {
    return receiver->lanes().Add("127.0.0.1", listener_->port(), lane, Session(frame::Role::kInitiator));
  }

  // Carries messages until `done` returns true, checking after each. False when nothing happens for too long.
  template <typename Done>
  bool RunUntil(Done done) {
    // Ends only a test that hangs, also on an emulated processor.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!done()) {
      if (std::chrono::steady_clock::now() > until) return false;
      // Progress wakes no waiter, so the wait is short.
      if (!Carry() && !done()) bell_.Wait(std::chrono::milliseconds(5));
    }
    return true;
  }
  bool Run() {
    Open();
    return RunToEnd();
  }
  bool RunToEnd() {
    const bool complete = RunUntil([this] { return complete_; });
    EXPECT_TRUE(receiver->Finish().ok());
    for (const receive::EntryProblem& problem : receiver->TakeNews().problems) received_problems.push_back(problem);
    return complete;
  }

  std::shared_ptr<send::SendJob> sender;
  std::unique_ptr<receive::ReceiveJob> receiver;
  std::vector<send::WalkProblem> sent_problems;
  std::vector<receive::EntryProblem> received_problems;
  std::vector<net::LaneEnd> lanes_ended;  // at the receiver
  std::vector<uint32_t> lanes_moved;      // by the sender
  std::vector<uint32_t> restarted;
  size_t placed = 0;

 private:
  // True if it carried a page.
  bool Carry() {
    const send::SendNews sent = sender->TakeNews();
    for (const auto& page : sent.pages) {
      receive::ReceivePlan plan;
      EXPECT_TRUE(receiver->Plan(page.first, page.count, page.bytes, page.size, &plan).ok());
      if (options_.discard - page.first < page.count) receiver->Discard(options_.discard);
      EXPECT_TRUE(sender->Answer(page.first, page.count, plan.wanted.data(), plan.wanted.size(), plan.partials).ok());
      restarted.insert(restarted.end(), plan.restarted.begin(), plan.restarted.end());
    }
    for (const auto& problem : sent.problems) {
      sent_problems.push_back(problem);
      if (problem.entry != manifest::kTop) receiver->FailEntry(problem.entry, /*keep_part=*/false);
    }
    if (sent.walked) receiver->EndOfPages();
    const receive::ReceiveNews received = receiver->TakeNews();
    for (const auto& problem : received.problems) {
      received_problems.push_back(problem);
      sender->Drop(problem.entry);
    }
    placed += received.placed.size();
    complete_ = complete_ || received.complete;
    for (const net::LaneEnd& end : received.lanes_ended) {
      lanes_ended.push_back(end);
      if (!options_.repair) continue;
      EXPECT_TRUE(sender->lanes().Close(end.lane, end.frames).ok());
    }
    lanes_moved.insert(lanes_moved.end(), sent.lanes_moved.begin(), sent.lanes_moved.end());
    return !sent.pages.empty();
  }

  const PairOptions options_;
  Bell bell_;
  bool complete_ = false;
  std::shared_ptr<net::Listener> listener_;
};

}  // namespace keibi::test
