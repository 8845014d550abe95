// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>

#include "manifest/segment.h"
#include "remote/write_pair.h"
#include "share/guest_lane.h"
#include "share/write_wire.h"

namespace keibi::remote {
namespace {

using core::Code;
using manifest::LaneFrame;
using share::Write;
using test::Bytes;
using test::Frame;

Bytes WriteOf(uint32_t handle, uint64_t offset, size_t bytes) {
  Bytes write(Write::kHeaderBytes + bytes, 'x');
  Write{handle, offset}.WriteHeader(write.data());
  return write;
}

Bytes OutcomeAt(uint32_t handle, uint64_t offset, uint8_t outcome = 0) {
  Bytes bytes;
  share::Written{handle, offset}.Append(&bytes);
  bytes.back() = outcome;
  return bytes;
}

// A guest whose sharer's lane is driven by the test.
class HostileOwnerTest : public testing::Test {
 protected:
  HostileOwnerTest() {
    guest_.listener->Expect(test::ReadGuest::Session(frame::Role::kResponder), lanes_);
    EXPECT_TRUE(guest_.AddLane(0).ok());
    lane_ = lanes_->inbox.Take();
  }
  void Answer(const Bytes& plaintext) {
    const Bytes frame = test::Seal(lane_->sealer.get(), plaintext);
    ASSERT_EQ(::send(lane_->fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
  }
  // Takes the frame of a put of "bytes", which is then pending.
  void Await() const {
    Bytes frame(frame::kOverheadBytes + 1 + Write::kHeaderBytes + 5);
    ASSERT_EQ(recv(lane_->fd.get(), frame.data(), frame.size(), MSG_WAITALL), static_cast<ssize_t>(frame.size()));
  }

  test::WriteGuest guest_;
  const std::shared_ptr<test::Lanes> lanes_ = std::make_shared<test::Lanes>();
  std::optional<test::Lane> lane_;
};

TEST_F(HostileOwnerTest, WhatItSaysOfAPieceIsTaken) {
  const std::map<uint8_t, std::pair<Code, int>> outcomes = {{0, {Code::kOk, 0}},
                                                            {1, {Code::kCallFailed, ENOSPC}},
                                                            {2, {Code::kCallFailed, EDQUOT}},
                                                            {3, {Code::kCallFailed, EFBIG}},
                                                            {4, {Code::kCallFailed, EIO}},
                                                            {5, {Code::kCancelled, 0}}};
  for (const auto& [outcome, expected] : outcomes) {
    const uint32_t put = guest_.Begin(outcome, "bytes");
    Await();
    Answer(Frame(LaneFrame::kWritten, OutcomeAt(outcome, 0, outcome)));
    const core::Status status = guest_.Wait(put);
    EXPECT_EQ(status.code, expected.first);
    EXPECT_EQ(status.system_error, expected.second);
  }
}

// Bytes [0, 5) of handle 1 are pending.
TEST_F(HostileOwnerTest, WhatItSaysOfNothingEndsTheLane) {
  const Bytes right = OutcomeAt(1, 0);
  Bytes twice = right;
  twice.insert(twice.end(), right.begin(), right.end());
  const std::map<std::string, Bytes> cases = {
      {"another handle", Frame(LaneFrame::kWritten, OutcomeAt(2, 0))},
      {"another place", Frame(LaneFrame::kWritten, OutcomeAt(1, 1))},
      {"an unknown outcome", Frame(LaneFrame::kWritten, OutcomeAt(1, 0, 6))},
      {"half an outcome", Frame(LaneFrame::kWritten, Bytes(right.begin(), right.end() - 1))},
      {"twice", Frame(LaneFrame::kWritten, twice)},
      {"nothing", Frame(LaneFrame::kWritten, {})},
      {"bytes", Frame(LaneFrame::kSegments, Bytes(18))},
      {"a write", Frame(LaneFrame::kWrite, WriteOf(1, 0, 5))},
      {"an empty frame", {}},
  };
  uint32_t number = 0;
  for (const auto& [name, plaintext] : cases) {
    const uint32_t put = guest_.Begin(1, "bytes");
    Await();
    Answer(plaintext);
    EXPECT_EQ(guest_.LaneEnd(), Code::kHandshakeMalformed) << name;
    EXPECT_EQ(guest_.IsSettled(put), name == "twice") << name;
    guest_.job.Cancel(put);
    ASSERT_TRUE(guest_.AddLane(++number).ok());
    lane_ = lanes_->inbox.Take();
  }
}

class HostileWriterTest : public test::GuestLaneTest {
 protected:
  HostileWriterTest() { test::WriteFile(share_ / "file", "content"); }
};

TEST_F(HostileWriterTest, GetsTheOutcomeOfEachWrite) {
  Share(std::make_shared<share::WriteLedger>());
  uint32_t handle = 0;
  ASSERT_TRUE(server_->written()->Open("file", {{}, test::OverlayTokenOf(1), 7}, &handle).ok());
  Guest guest = Begin(0);
  guest.Send(Frame(LaneFrame::kWrite, WriteOf(handle, 5, 4)));
  EXPECT_EQ(guest.Receive(), Frame(LaneFrame::kWritten, OutcomeAt(handle, 5)));
  EXPECT_EQ(test::ReadFile(share_ / "file"), "content") << "before it is committed";
  guest.Send(Frame(LaneFrame::kWrite, WriteOf(handle + 1, 5, 4)));
  EXPECT_EQ(guest.Receive(), Frame(LaneFrame::kWritten, OutcomeAt(handle + 1, 5, 5)));
  guest.Send(Frame(LaneFrame::kWrite, WriteOf(handle, core::kMaxFileBytes - 1, 1)));
  const Bytes far = guest.Receive();
  ASSERT_EQ(far.size(), 1 + share::Written::kBytes);
  EXPECT_NE(far.back(), 5);
  // The lane both reads and writes: a frame of the greatest length is a write.
  guest.Send(Frame(LaneFrame::kWrite, WriteOf(handle, 0, Write::kMaxBytes)));
  EXPECT_EQ(guest.Receive(), Frame(LaneFrame::kWritten, OutcomeAt(handle, 0)));
}

TEST_F(HostileWriterTest, WhatIsNoWriteEndsTheLane) {
  Share(std::make_shared<share::WriteLedger>());
  uint32_t handle = 0, lane = 0;
  ASSERT_TRUE(server_->written()->Open("file", {{}, test::OverlayTokenOf(1), 7}, &handle).ok());
  const std::map<std::string, Bytes> cases = {
      {"nothing", Frame(LaneFrame::kWrite, {})},
      {"half a head", Frame(LaneFrame::kWrite, Bytes(11))},
      {"no bytes", Frame(LaneFrame::kWrite, WriteOf(handle, 0, 0))},
      {"too many bytes", Frame(LaneFrame::kWrite, WriteOf(handle, 0, Write::kMaxBytes + 1))},
      {"behind the longest file", Frame(LaneFrame::kWrite, WriteOf(handle, core::kMaxFileBytes, 1))},
      {"far away", Frame(LaneFrame::kWrite, WriteOf(handle, UINT64_MAX, 4))},
      {"an outcome", Frame(LaneFrame::kWritten, OutcomeAt(handle, 0))},
      {"asks without an end", Frame(LaneFrame::kAsks, Bytes(share::kMaxReadRequestBytes))},
  };
  for (const auto& [name, plaintext] : cases) {
    Guest guest = Begin(lane++);
    guest.Send(plaintext);
    EXPECT_TRUE(guest.dialler.IsClosed()) << name;
  }
  EXPECT_EQ(test::ReadFile(share_ / "file"), "content");
}

TEST_F(HostileWriterTest, WritesNothingToAReadOnlyShare) {
  Share();
  EXPECT_EQ(server_->written(), nullptr);
  uint32_t lane = 0;
  for (const size_t bytes : {size_t{1}, size_t{4}, size_t{Write::kMaxBytes}}) {
    Guest guest = Begin(lane++);
    guest.Send(Frame(LaneFrame::kWrite, WriteOf(1, 0, bytes)));
    EXPECT_TRUE(guest.dialler.IsClosed()) << bytes;
  }
  EXPECT_EQ(test::ReadFile(share_ / "file"), "content");
}

}  // namespace
}  // namespace keibi::remote
