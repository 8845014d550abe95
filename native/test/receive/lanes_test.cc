// SPDX-License-Identifier: MPL-2.0
// Lanes that end before their transfer does (PROTOCOL 5.3).
#include <gtest/gtest.h>

#include "disk_tree.h"
#include "receive/transfer_pair.h"

namespace keibi::receive {
namespace {

using core::Code;
using test::Content;
using test::Pair;
using test::WriteFile;

class LanesTest : public testing::Test {
 protected:
  test::fs::path Source() const { return folder_ / "source"; }
  test::fs::path Out() const { return folder_ / "out"; }
  void SetUp() override {
    test::fs::create_directory(Source());
    WriteFile(Source() / "large", Content(60 * core::kChunkBytes + 7));
    for (int i = 0; i < 400; i++) WriteFile(Source() / ("small " + std::to_string(i)), Content(5000 + i, i));
  }

  // Slow enough to cut a lane in the middle.
  static test::PairOptions Slow(uint32_t lanes) {
    return {.lanes = lanes, .send_budget = std::make_shared<net::RateBudget>(60 << 20), .repair = true};
  }

  void ExpectSameTree() { EXPECT_EQ(test::Listing(Out() / "source"), test::Listing(Source())); }

  static bool Reaches(Pair* pair, uint64_t chunks) {
    return pair->RunUntil([&] { return pair->receiver->progress().bytes >= chunks * core::kChunkBytes; });
  }

  test::Folder folder_;
};

TEST_F(LanesTest, WhatACutLaneDidNotBringComesByTheOthers) {
  Pair pair(Source(), Out(), Slow(3));
  pair.Open();
  ASSERT_TRUE(Reaches(&pair, 10));
  pair.receiver->lanes().Cut(1);
  ASSERT_TRUE(pair.RunUntil([&] { return pair.lanes_moved.size() == 1; }));
  EXPECT_EQ(pair.lanes_moved[0], 1u);
  EXPECT_EQ(pair.receiver->lanes().states().size(), 2u);
  ASSERT_TRUE(pair.RunToEnd());
  EXPECT_TRUE(pair.received_problems.empty());
  EXPECT_EQ(pair.placed, 401u);
  ExpectSameTree();
}

TEST_F(LanesTest, ALaneThatHasNothingToDoIsReplacedToo) {
  Pair pair(Source(), Out(), {.lanes = 2, .repair = true});
  ASSERT_TRUE(pair.receiver->Open().ok());
  for (uint32_t lane = 0; lane < 2; lane++) ASSERT_TRUE(pair.AddLane(lane).ok());
  ASSERT_TRUE(pair.RunUntil([&] { return pair.receiver->lanes().states().size() == 2; }));
  pair.receiver->lanes().Cut(0);
  ASSERT_TRUE(pair.RunUntil([&] { return pair.lanes_moved.size() == 1; }));
  pair.sender->Start();
  ASSERT_TRUE(pair.RunToEnd());
  ExpectSameTree();
}

TEST_F(LanesTest, ALaneTakesThePlaceOfTheOnlyOneAgainAndAgain) {
  Pair pair(Source(), Out(), Slow(1));
  pair.Open();
  for (uint32_t lane = 0; lane < 5; lane++) {
    ASSERT_TRUE(Reaches(&pair, 8 * (lane + 1)));
    pair.receiver->lanes().Cut(lane);
    ASSERT_TRUE(pair.RunUntil([&] { return pair.lanes_moved.size() == lane + 1; }));
    ASSERT_TRUE(pair.AddLane(lane + 1).ok());
  }
  ASSERT_TRUE(pair.RunToEnd());
  EXPECT_EQ(pair.placed, 401u);
  ExpectSameTree();
}

TEST_F(LanesTest, ARetiredLaneSaysGoodbyeAndLosesNothing) {
  Pair pair(Source(), Out(), Slow(2));
  pair.Open();
  ASSERT_TRUE(Reaches(&pair, 5));
  pair.sender->lanes().Retire(0);
  ASSERT_TRUE(pair.RunUntil([&] { return pair.lanes_ended.size() == 1; }));
  EXPECT_EQ(pair.lanes_ended[0].lane, 0u);
  EXPECT_TRUE(pair.lanes_ended[0].status.ok());
  EXPECT_GT(pair.lanes_ended[0].frames, 0u);
  ASSERT_TRUE(pair.RunToEnd());
  ExpectSameTree();
}

TEST_F(LanesTest, TheReceiverIsNotBelievedMoreThanWasSent) {
  Pair pair(Source(), Out(), Slow(1));
  pair.Open();
  ASSERT_TRUE(Reaches(&pair, 1));
  send::SendLanes& lanes = pair.sender->lanes();
  EXPECT_TRUE(lanes.Acknowledge(0, 1).ok());
  EXPECT_EQ(lanes.Acknowledge(0, 1'000'000).code, Code::kHandshakeMalformed);
  EXPECT_EQ(lanes.Close(0, 1'000'000).code, Code::kHandshakeMalformed);
  EXPECT_EQ(lanes.Close(core::kMaxLaneNumbers, 0).code, Code::kHandshakeMalformed);
}

TEST_F(LanesTest, ALaneThatWasClosedBeforeItCameIsRefused) {
  test::PairOptions unrepaired = Slow(1);
  unrepaired.repair = false;  // it would close the refused lane a second time
  Pair pair(Source(), Out(), unrepaired);
  pair.Open();
  EXPECT_TRUE(pair.sender->lanes().Close(7, 0).ok());
  ASSERT_TRUE(pair.RunUntil([&] { return pair.lanes_moved.size() == 1; }));
  EXPECT_EQ(pair.sender->lanes().Close(7, 0).code, Code::kHandshakeMalformed);
  ASSERT_TRUE(pair.AddLane(7).ok());
  ASSERT_TRUE(pair.RunUntil([&] { return pair.receiver->lanes().states().size() == 1; }));
}

}  // namespace
}  // namespace keibi::receive
