// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disk_tree.h"
#include "frame/frames.h"
#include "net/listener.h"
#include "receive/transfer_pair.h"
#include "remote/read_job.h"
#include "share/serve_job.h"

namespace keibi::test {

// The guest's side of a share: a ReadJob with lanes to whatever the listener expects.
class ReadGuest {
 public:
  explicit ReadGuest(std::shared_ptr<net::RateBudget> budget = nullptr) : job(std::move(budget), bell_.wake()) {
    EXPECT_TRUE(net::Listener::Open(
                    {.host = "127.0.0.1"}, [](net::Incoming) {}, &listener)
                    .ok());
  }
  ~ReadGuest() {
    listener->Stop();
    job.Stop();
  }

  static net::ExpectedLanes Session(frame::Role self, uint8_t number = 1) {
    return {{number, 2, 3}, KeyOf(number), aead::Suite::kAes256Gcm, self};
  }
  core::Status AddLane(uint32_t lane, uint8_t session = 1) {
    return job.AddLane({"127.0.0.1", listener->port()}, lane, Session(frame::Role::kInitiator, session));
  }

  uint32_t Open(const std::string& path, const remote::CacheIdentity& identity) {
    uint32_t file = 0;
    const std::string key = "key" + std::to_string(++keys_);
    EXPECT_TRUE(job.Open(path, cache.path().string(), key, identity, &file).ok());
    keys_of_[file] = key;
    return file;
  }
  // A file's cached bytes; missing ones are zeros.
  std::string Cached(uint32_t file) const { return ReadFile(cache / (keys_of_.at(file) + ".data")); }

  // kOk once all blocks are cached, otherwise the error; kHandshakeTimeout if there is no result.
  core::Code Want(uint32_t file, uint32_t first, uint32_t count, uint32_t ahead = 0) {
    const uint32_t want = Begin(file, first, count, ahead);
    return want == 0 ? last_ : Wait(want);
  }
  // 0 if there is nothing to wait for.
  uint32_t Begin(uint32_t file, uint32_t first, uint32_t count, uint32_t ahead = 0) {
    bool here = false;
    const uint32_t want = ++wants_;
    const core::Status status = job.Want(want, file, first, count, ahead, &here);
    last_ = status.code;
    return here || !status.ok() ? 0 : want;
  }
  core::Code Wait(uint32_t want) {
    const auto settled = [&] { return settled_.contains(want); };
    return Until(settled) ? settled_.at(want) : core::Code::kHandshakeTimeout;
  }
  // The end status of the next lane that ends.
  std::optional<core::Code> LaneEnd() {
    if (!Until([&] { return !ends_.empty(); })) return std::nullopt;
    const core::Code code = ends_.front().status.code;
    ends_.erase(ends_.begin());
    return code;
  }

  Folder cache;

 private:
  Bell bell_;

 public:
  std::shared_ptr<net::Listener> listener;
  remote::ReadJob job;

 private:
  template <typename Done>
  bool Until(Done done) {
    // Ends only a test that hangs, also on an emulated processor.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (true) {
      const remote::ReadNews news = job.TakeNews();
      for (const auto& [want, status] : news.settled) settled_[want] = status.code;
      ends_.insert(ends_.end(), news.lanes_ended.begin(), news.lanes_ended.end());
      if (done()) return true;
      if (std::chrono::steady_clock::now() > until) return false;
      bell_.Wait(std::chrono::milliseconds(100));
    }
  }

  std::map<uint32_t, core::Code> settled_;
  std::vector<net::LaneEnd> ends_;
  std::map<uint32_t, std::string> keys_of_;
  core::Code last_ = core::Code::kOk;
  uint32_t wants_ = 0;
  int keys_ = 0;
};

// A guest and a peer that shares a folder.
class ReadPair : public ReadGuest {
 public:
  explicit ReadPair(uint32_t lanes = 1, const std::string& only = "", std::shared_ptr<net::RateBudget> budget = nullptr)
      : ReadGuest(std::move(budget)) {
    server = Serve(1, only);
    for (uint32_t lane = 0; lane < lanes; lane++) EXPECT_TRUE(AddLane(lane).ok());
  }
  ~ReadPair() {
    for (const auto& each : servers_) each->Stop();
  }

  std::shared_ptr<share::ServeJob> Serve(uint8_t session, const std::string& only = "") {
    auto serving = std::make_shared<share::ServeJob>(share::ServeOptions{{share.path().string(), only}});
    servers_.push_back(serving);
    listener->Expect(Session(frame::Role::kResponder, session), serving);
    return serving;
  }
  uint32_t OpenShared(const std::string& path) {
    return Open(path, {fs::file_size(share / path), MtimeOf(share / path)});
  }

  Folder share;
  std::shared_ptr<share::ServeJob> server;

 private:
  std::vector<std::shared_ptr<share::ServeJob>> servers_;
};

}  // namespace keibi::test
