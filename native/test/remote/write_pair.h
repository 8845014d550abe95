// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disk/byte_range.h"
#include "net/listener.h"
#include "remote/read_pair.h"
#include "remote/write_job.h"
#include "share/serve_job.h"

namespace keibi::test {

// The guest's side of a share that it writes: a WriteJob with lanes to whatever the listener expects.
class WriteGuest {
 public:
  WriteGuest() : job(nullptr, bell_.wake()) {
    EXPECT_TRUE(net::Listener::Open(
                    {.host = "127.0.0.1"}, [](net::Incoming) {}, &listener)
                    .ok());
  }
  ~WriteGuest() {
    listener->Stop();
    job.Stop();
  }

  core::Status AddLane(uint32_t lane, uint8_t session = 1) {
    return job.AddLane({"127.0.0.1", listener->port()}, lane, ReadGuest::Session(frame::Role::kInitiator, session));
  }
  // Begins a put of all these bytes, or of some ranges.
  uint32_t Begin(uint32_t handle, const std::string& content, std::vector<disk::ByteRange> ranges = {}) {
    const uint32_t put = ++puts_;
    const std::string key = "overlay" + std::to_string(put);
    WriteFile(overlays / (key + ".data"), content);
    if (ranges.empty()) ranges = {{0, content.size()}};
    const core::Status status = job.Begin(put, job.session(), handle, overlays.path().string(), key, ranges);
    EXPECT_TRUE(status.ok()) << static_cast<int>(status.code);
    return put;
  }
  // The put's result; kHandshakeTimeout if there is none.
  core::Status Wait(uint32_t put) {
    const bool known = Until([&] { return settled_.contains(put); });
    return known ? settled_.at(put) : core::Status::Of(core::Code::kHandshakeTimeout);
  }
  bool IsSettled(uint32_t put) {
    Look();
    return settled_.contains(put);
  }
  std::optional<core::Code> LaneEnd() {
    if (!Until([&] { return !ends_.empty(); })) return std::nullopt;
    const core::Code code = ends_.front().status.code;
    ends_.erase(ends_.begin());
    return code;
  }

  Folder overlays;

 private:
  Bell bell_;

 public:
  std::shared_ptr<net::Listener> listener;
  remote::WriteJob job;

 private:
  void Look() {
    const remote::WriteNews news = job.TakeNews();
    for (const auto& [put, status] : news.settled) settled_[put] = status;
    ends_.insert(ends_.end(), news.lanes_ended.begin(), news.lanes_ended.end());
  }
  template <typename Done>
  bool Until(Done done) {
    // Ends only a test that hangs, also on an emulated processor.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (true) {
      Look();
      if (done()) return true;
      if (std::chrono::steady_clock::now() > until) return false;
      bell_.Wait(std::chrono::milliseconds(100));
    }
  }

  std::map<uint32_t, core::Status> settled_;
  std::vector<net::LaneEnd> ends_;
  uint32_t puts_ = 0;
};

inline share::OverlayToken OverlayTokenOf(uint8_t number) { return {number}; }

// A guest and a peer that shares a writable folder.
class WritePair : public WriteGuest {
 public:
  explicit WritePair(uint32_t lanes = 1) {
    server = Serve(1);
    for (uint32_t lane = 0; lane < lanes; lane++) EXPECT_TRUE(AddLane(lane).ok());
  }
  ~WritePair() {
    for (const auto& each : servers_) each->Stop();
  }

  std::shared_ptr<share::ServeJob> Serve(uint8_t session) {
    auto serving =
        std::make_shared<share::ServeJob>(share::ServeOptions{.folder = {share.path().string(), ""}, .ledger = ledger});
    servers_.push_back(serving);
    listener->Expect(ReadGuest::Session(frame::Role::kResponder, session), serving);
    return serving;
  }
  // Opens an existing file for writing, whatever its version.
  uint32_t Open(const std::string& path, uint8_t token = 1, uint64_t keep = 0) {
    uint32_t handle = 0;
    const core::Status status = server->written()->Open(path, {{}, OverlayTokenOf(token), keep}, &handle);
    EXPECT_TRUE(status.ok()) << static_cast<int>(status.code) << " " << status.system_error;
    return handle;
  }
  core::Status Commit(uint32_t handle, uint64_t size, int64_t mtime_ns = 7) {
    std::vector<uint8_t> entry;
    return server->written()->Commit(handle, {{size, mtime_ns}, false}, &entry);
  }

  Folder share;
  const std::shared_ptr<share::WriteLedger> ledger = std::make_shared<share::WriteLedger>();
  std::shared_ptr<share::ServeJob> server;

 private:
  std::vector<std::shared_ptr<share::ServeJob>> servers_;
};

}  // namespace keibi::test
