// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <map>

#include "manifest/segment.h"
#include "remote/read_pair.h"
#include "share/guest_lane.h"
#include "share/read_wire.h"

namespace keibi::remote {
namespace {

using core::Code;
using manifest::LaneFrame;
using manifest::Segment;
using share::ReadRequest;
using share::Refusal;
using test::Bytes;
using test::Frame;

Bytes SegmentOf(uint32_t file, uint64_t offset, uint32_t length, uint8_t flags = 0) {
  Bytes bytes(Segment::kHeaderBytes + length, 'x');
  Segment{file, flags, offset, length}.WriteHeader(bytes.data());
  return bytes;
}

Bytes RefusalOf(uint32_t file, uint64_t offset, uint8_t reason) {
  Bytes bytes;
  Refusal{file, offset, static_cast<Refusal::Reason>(reason)}.Append(&bytes);
  return bytes;
}

Bytes Both(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A guest whose sharer's lane is driven by the test.
class HostileSharerTest : public testing::Test {
 protected:
  HostileSharerTest() {
    guest_.listener->Expect(test::ReadGuest::Session(frame::Role::kResponder), lanes_);
    EXPECT_TRUE(guest_.AddLane(0).ok());
    lane_ = lanes_->inbox.Take();
    file_ = guest_.Open("file", {8 * kCacheBlockBytes, 1});
  }

  void Answer(const Bytes& plaintext) {
    const Bytes frame = test::Seal(lane_->sealer.get(), plaintext);
    ASSERT_EQ(::send(lane_->fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frame.size()));
  }

  test::ReadGuest guest_;
  const std::shared_ptr<test::Lanes> lanes_ = std::make_shared<test::Lanes>();
  std::optional<test::Lane> lane_;
  uint32_t file_ = 0;
};

TEST_F(HostileSharerTest, WhatWasAskedForIsTaken) {
  const uint32_t want = guest_.Begin(file_, 2, 2);
  Answer(Frame(LaneFrame::kSegments, SegmentOf(file_, 2 * kCacheBlockBytes, 2 * kCacheBlockBytes)));
  EXPECT_EQ(guest_.Wait(want), Code::kOk);
}

// Blocks 2 and 3 of one file are requested.
TEST_F(HostileSharerTest, WhatWasNotAskedForEndsTheLaneAndIsWrittenNowhere) {
  const Bytes right = SegmentOf(file_, 2 * kCacheBlockBytes, 2 * kCacheBlockBytes);
  const std::map<std::string, Bytes> cases = {
      {"another file", Frame(LaneFrame::kSegments, SegmentOf(file_ + 1, 2 * kCacheBlockBytes, 2 * kCacheBlockBytes))},
      {"another place", Frame(LaneFrame::kSegments, SegmentOf(file_, 4 * kCacheBlockBytes, 2 * kCacheBlockBytes))},
      {"within a block", Frame(LaneFrame::kSegments, SegmentOf(file_, 2 * kCacheBlockBytes + 1, 2 * kCacheBlockBytes))},
      {"behind the end",
       Frame(LaneFrame::kSegments, SegmentOf(file_, UINT64_MAX - kCacheBlockBytes + 1, kCacheBlockBytes))},
      {"less", Frame(LaneFrame::kSegments, SegmentOf(file_, 2 * kCacheBlockBytes, kCacheBlockBytes))},
      {"more", Frame(LaneFrame::kSegments, SegmentOf(file_, 2 * kCacheBlockBytes, 3 * kCacheBlockBytes))},
      {"nothing", Frame(LaneFrame::kSegments, SegmentOf(file_, 2 * kCacheBlockBytes, 0))},
      {"a hole",
       Frame(LaneFrame::kSegments, SegmentOf(file_, 2 * kCacheBlockBytes, 2 * kCacheBlockBytes, manifest::kHole))},
      {"no segment", Frame(LaneFrame::kSegments, {})},
      {"half a segment", Frame(LaneFrame::kSegments, Bytes(right.begin(), right.end() - 1))},
      {"twice", Frame(LaneFrame::kSegments, Both(right, right))},
      {"a refusal of another place", Frame(LaneFrame::kRefusals, RefusalOf(file_, 0, 1))},
      {"a refusal without a reason", Frame(LaneFrame::kRefusals, RefusalOf(file_, 2 * kCacheBlockBytes, 0))},
      {"an unknown reason", Frame(LaneFrame::kRefusals, RefusalOf(file_, 2 * kCacheBlockBytes, 6))},
      {"forgotten, but not by us", Frame(LaneFrame::kRefusals, RefusalOf(file_, 2 * kCacheBlockBytes, 5))},
      {"half a refusal", Frame(LaneFrame::kRefusals, Bytes(12))},
      {"asks", Frame(LaneFrame::kAsks, Bytes(18))},
      {"an end", Frame(LaneFrame::kEnd, {})},
      {"an unknown kind", Frame(static_cast<LaneFrame>(9), right)},
      {"an empty frame", {}},
  };
  uint32_t number = 0;
  for (const auto& [name, plaintext] : cases) {
    const uint32_t want = guest_.Begin(file_, 2, 2);
    const bool asked = want != 0;
    Answer(plaintext);
    EXPECT_EQ(guest_.LaneEnd(), Code::kHandshakeMalformed) << name;
    // Only the correct part before it has arrived.
    EXPECT_EQ(asked && guest_.Begin(file_, 2, 2) == 0, name == "twice") << name;
    if (name == "twice") file_ = guest_.Open("file", {8 * kCacheBlockBytes, 1});
    ASSERT_TRUE(guest_.AddLane(++number).ok());
    lane_ = lanes_->inbox.Take();
  }
}

TEST_F(HostileSharerTest, ALaneThatOwesAnAnswerAndIsSilentIsCut) {
  guest_.job.CutSilent(std::chrono::milliseconds(0));
  const uint32_t want = guest_.Begin(file_, 0, 1);
  EXPECT_NE(want, 0U);
  guest_.job.CutSilent(std::chrono::milliseconds(0));
  EXPECT_EQ(guest_.LaneEnd(), Code::kSessionLost);
}

TEST_F(HostileSharerTest, AnAlteredFrameEndsTheLane) {
  guest_.Begin(file_, 0, 1);
  Bytes frame = test::Seal(lane_->sealer.get(), Frame(LaneFrame::kSegments, SegmentOf(file_, 0, kCacheBlockBytes)));
  frame[100] ^= 1;
  ASSERT_GT(::send(lane_->fd.get(), frame.data(), frame.size(), MSG_NOSIGNAL), 0);
  EXPECT_EQ(guest_.LaneEnd(), Code::kFrameAuthFailed);
}

class HostileGuestTest : public test::GuestLaneTest {
 protected:
  HostileGuestTest() {
    test::WriteFile(share_ / "file", test::Content(4 * kCacheBlockBytes));
    Share();
  }

  Bytes Name(uint32_t file, const std::string& path = "file") const {
    Bytes bytes;
    ReadRequest{.kind = ReadRequest::Kind::kName,
                .file = file,
                .size = 4 * kCacheBlockBytes,
                .mtime_ns = test::MtimeOf(share_ / "file"),
                .path = path}
        .Append(&bytes);
    return bytes;
  }
  static Bytes Read(uint32_t file, uint64_t offset, uint32_t length) {
    Bytes bytes;
    ReadRequest{.kind = ReadRequest::Kind::kRead, .file = file, .offset = offset, .length = length}.Append(&bytes);
    return bytes;
  }
  static Bytes Forget(uint32_t file) {
    Bytes bytes;
    ReadRequest{.kind = ReadRequest::Kind::kForget, .file = file}.Append(&bytes);
    return bytes;
  }
};

TEST_F(HostileGuestTest, EachReadIsAnsweredOnce) {
  Guest guest = Begin(0);
  ASSERT_TRUE(
      guest.Send(Frame(LaneFrame::kAsks, Both(Name(7), Both(Read(7, 1, 5), Read(7, 4 * kCacheBlockBytes - 1, 1))))));
  const Bytes answer = guest.Receive();
  const uint8_t* at = answer.data() + 1;
  Segment first, second;
  ASSERT_TRUE(Segment::Take(&at, answer.data() + answer.size(), &first));
  ASSERT_TRUE(Segment::Take(&at, answer.data() + answer.size(), &second));
  EXPECT_EQ(at, answer.data() + answer.size());
  EXPECT_EQ(std::string(first.data, first.data + first.length), test::Content(4 * kCacheBlockBytes).substr(1, 5));
  EXPECT_EQ(second.offset, 4 * kCacheBlockBytes - 1);
}

TEST_F(HostileGuestTest, IsAnsweredWhileTheRestOfAnotherFrameIsOnItsWay) {
  uint32_t lane = 0;
  for (const size_t part : {size_t{1}, frame::kHeaderBytes, frame::kHeaderBytes + 1}) {
    Guest guest = Begin(lane++);
    Bytes asks = test::Seal(&guest.sealer, Frame(LaneFrame::kAsks, Both(Name(7), Read(7, 1, 5))));
    const Bytes more = test::Seal(&guest.sealer, Frame(LaneFrame::kAsks, Read(7, 6, 7)));
    asks.insert(asks.end(), more.begin(), more.begin() + part);
    ASSERT_TRUE(guest.dialler.Send(asks));
    EXPECT_FALSE(guest.Receive().empty());
    ASSERT_TRUE(guest.dialler.Send(Bytes(more.begin() + part, more.end())));
    const Bytes answer = guest.Receive();
    const uint8_t* at = answer.data() + 1;
    Segment segment;
    ASSERT_TRUE(Segment::Take(&at, answer.data() + answer.size(), &segment));
    EXPECT_EQ(segment.length, 7U);
  }
}

TEST_F(HostileGuestTest, WhatIsNoAskEndsTheLane) {
  Bytes too_many_names, too_long_paths, too_many_reads = Name(1);
  for (uint32_t i = 0; i <= share::kMaxNamedFiles; i++) too_many_names = Both(too_many_names, Name(i, "a"));
  for (uint32_t i = 0; i < 2; i++) too_long_paths = Both(too_long_paths, Name(i, std::string(30'000, 'a')));
  for (uint32_t i = 0; i < 3000; i++) too_many_reads = Both(too_many_reads, Read(1, 0, 1));
  const std::map<std::string, Bytes> cases = {
      {"an empty frame", {}},
      {"a segment", Frame(LaneFrame::kSegments, SegmentOf(1, 0, 1))},
      {"half a name", Frame(LaneFrame::kAsks, {1, 0, 0, 0, 1})},
      {"an unknown ask", Frame(LaneFrame::kAsks, {9, 0, 0, 0, 1})},
      {"a file without a name", Frame(LaneFrame::kAsks, Read(1, 0, 1))},
      {"forget without a name", Frame(LaneFrame::kAsks, Forget(1))},
      {"a number that is taken", Frame(LaneFrame::kAsks, Both(Name(1), Name(1)))},
      {"a read of nothing", Frame(LaneFrame::kAsks, Both(Name(1), Read(1, 0, 0)))},
      {"a read of too much", Frame(LaneFrame::kAsks, Both(Name(1), Read(1, 0, share::kMaxReadBytes + 1)))},
      {"a read behind the end", Frame(LaneFrame::kAsks, Both(Name(1), Read(1, 4 * kCacheBlockBytes, 1)))},
      {"a read over the end", Frame(LaneFrame::kAsks, Both(Name(1), Read(1, 4 * kCacheBlockBytes - 1, 2)))},
      {"a read far away", Frame(LaneFrame::kAsks, Both(Name(1), Read(1, UINT64_MAX, 2)))},
      {"too many names", Frame(LaneFrame::kAsks, too_many_names)},
      {"too large a frame", Frame(LaneFrame::kAsks, Bytes(share::kMaxReadRequestBytes))},
  };
  uint32_t lane = 0;
  for (const auto& [name, plaintext] : cases) {
    Guest guest = Begin(lane++);
    guest.Send(plaintext);
    EXPECT_TRUE(guest.dialler.IsClosed()) << name;
  }
  // One frame of each kind is the limit; the lane continues to serve.
  Guest honest = Begin(lane++);
  honest.Send(Frame(LaneFrame::kAsks, Both(Name(1), Read(1, 0, 1))));
  EXPECT_FALSE(honest.Receive().empty());
  // More reads than may be pending: this guest never takes an answer.
  Guest greedy = Begin(lane++);
  greedy.Send(Frame(LaneFrame::kAsks, too_many_reads));
  Bytes more;
  for (uint32_t i = 0; i < 3000; i++) more = Both(more, Read(1, 0, kCacheBlockBytes));
  greedy.Send(Frame(LaneFrame::kAsks, more));
  greedy.Send(Frame(LaneFrame::kAsks, more));
  greedy.Send(Frame(LaneFrame::kAsks, more));
  Bytes answer;
  while (!(answer = greedy.Receive()).empty()) continue;
  EXPECT_TRUE(greedy.dialler.IsClosed());
}

TEST_F(HostileGuestTest, ForgetsEachReadOfAFileByARefusal) {
  Guest guest = Begin(0);
  // In one frame, so that no read is in progress.
  guest.Send(Frame(LaneFrame::kAsks, Both(Both(Name(1), Name(2)),
                                          Both(Both(Read(1, 0, 1), Read(1, 9, 1)), Both(Forget(1), Read(2, 0, 1))))));
  const Bytes answer = guest.Receive(), refusals = guest.Receive();
  ASSERT_EQ(answer.size(), 1 + Segment::kHeaderBytes + 1);
  ASSERT_EQ(refusals.size(), 1 + 2 * Refusal::kBytes);
  const uint8_t* at = refusals.data() + 1;
  Refusal refusal;
  ASSERT_TRUE(Refusal::Take(&at, refusals.data() + refusals.size(), &refusal));
  EXPECT_EQ(refusal.reason, Refusal::Reason::kForgotten);
  EXPECT_EQ(refusal.file, 1U);
  ASSERT_TRUE(Refusal::Take(&at, refusals.data() + refusals.size(), &refusal));
  EXPECT_EQ(refusal.offset, 9U);
}

TEST_F(HostileGuestTest, HasNoMoreLanesThanASession) {
  std::vector<Guest> guests;
  for (uint32_t lane = 0; lane <= core::kMaxLanes; lane++) {
    guests.push_back(Begin(lane));
    guests.back().Send(Frame(LaneFrame::kAsks, Both(Name(1), Read(1, 0, 1))));
    EXPECT_EQ(guests.back().Receive().empty(), lane == core::kMaxLanes);
  }
}

}  // namespace
}  // namespace keibi::remote
