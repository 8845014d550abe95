// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/bytes.h"
#include "frame/frames.h"
#include "net/dialler.h"
#include "net/listener.h"

namespace keibi::test {

// Values from another thread, taken one at a time; Take waits.
template <typename T>
class Inbox {
 public:
  void Put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    arrived_.notify_one();
  }
  std::optional<T> Take(std::chrono::milliseconds patience = std::chrono::seconds(5)) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, patience, [this] { return !values_.empty(); })) return std::nullopt;
    std::optional<T> taken(std::move(values_.front()));
    values_.pop_front();
    return taken;
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<T> values_;
};

struct Lane {
  core::Fd fd;
  uint32_t number;
  std::unique_ptr<frame::Sealer> sealer;
  std::unique_ptr<frame::Opener> opener;
};

class Lanes : public net::LaneAcceptor {
 public:
  void OnLane(int fd, uint32_t lane, std::unique_ptr<frame::Sealer> sealer,
              std::unique_ptr<frame::Opener> opener) override {
    inbox.Put({core::Fd(fd), lane, std::move(sealer), std::move(opener)});
  }
  Inbox<Lane> inbox;
};

// A running listener on loopback and the connections it hands over.
class ServedTest : public testing::Test {
 protected:
  static constexpr auto kSuite = aead::Suite::kAes256Gcm;
  static constexpr net::SessionId kSession = {1, 2, 3};

  void Serve(net::ListenerOptions options = {}) {
    if (options.host.empty()) options.host = "127.0.0.1";
    const core::Status status = net::Listener::Open(
        options, [this](net::Incoming incoming) { inbox_.Put(std::move(incoming)); }, &listener_);
    ASSERT_TRUE(status.ok()) << status.system_error;
  }
  Dialler Dial() { return Dialler("127.0.0.1", listener_->port()); }

  // Proves that the listener has processed everything sent before, and still serves.
  void ExpectServed() {
    Dialler dialler = Dial();
    dialler.Send("KEIBI-C1");
    EXPECT_TRUE(inbox_.Take().has_value());
  }

  std::shared_ptr<Lanes> Expect(net::SessionId session = kSession) {
    auto lanes = std::make_shared<Lanes>();
    listener_->Expect({session, KeyOf(4), kSuite, frame::Role::kResponder}, lanes);
    return lanes;
  }

  static frame::Key LaneKey(uint32_t lane, frame::Role writer) {
    return frame::LaneKey(KeyOf(4), kSuite, writer, lane);
  }

  //   | "KEIBI-L1" | session id 16 | lane number 4 | frame (4) with plaintext 00 |
  static Bytes Hello(uint32_t lane, frame::Sealer* sealer, const net::SessionId& session = kSession,
                     const Bytes& plaintext = {0}) {
    const Bytes frame = Seal(sealer, plaintext);
    Bytes hello(8 + 16 + 4 + frame.size());
    std::memcpy(hello.data(), "KEIBI-L1", 8);
    std::copy(session.begin(), session.end(), hello.begin() + 8);
    core::StoreBigEndian<uint32_t>(hello.data() + 24, lane);
    std::copy(frame.begin(), frame.end(), hello.begin() + 28);
    return hello;
  }
  static Bytes RightHello(uint32_t lane) {
    frame::Sealer sealer(kSuite, LaneKey(lane, frame::Role::kInitiator));
    return Hello(lane, &sealer);
  }

  Inbox<net::Incoming> inbox_;
  std::shared_ptr<net::Listener> listener_;  // after inbox_, so that it stops first
};

}  // namespace keibi::test
