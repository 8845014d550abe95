// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_ledger.h"

#include <gtest/gtest.h>

namespace keibi::receive {
namespace {

using core::Code;
using core::Status;
using State = ReceiveLedger::State;

class ReceiveLedgerTest : public testing::Test {
 protected:
  void SetUp() override { ledger_.Resize(4); }

  int wakes_ = 0;
  ReceiveLedger ledger_{/*report_placed=*/true, [this] { wakes_++; }};
};

TEST_F(ReceiveLedgerTest, IsCompleteOnceEachWantedEntryIsSettledAndNoMorePagesCome) {
  ledger_.Want(0);
  ledger_.Want(1);
  ledger_.Done(0, 3, 3);
  ledger_.EndOfPages();
  EXPECT_FALSE(ledger_.TakeNews().complete);
  ledger_.Fail(1, Status::Of(Code::kDiskFull));
  const ReceiveNews news = ledger_.TakeNews();
  EXPECT_TRUE(news.complete);
  ASSERT_EQ(news.problems.size(), 1u);
  EXPECT_EQ(news.problems[0].entry, 1u);
  EXPECT_EQ(news.problems[0].status.code, Code::kDiskFull);
  EXPECT_GT(wakes_, 0);
  ledger_.EndOfPages();
  EXPECT_FALSE(ledger_.TakeNews().complete) << "announced twice";
}

TEST_F(ReceiveLedgerTest, GivesASmallFileToOneWriter) {
  ledger_.Want(0);
  EXPECT_TRUE(ledger_.Claim(0));
  EXPECT_FALSE(ledger_.Claim(0));
  EXPECT_EQ(ledger_.StateOf(0), State::kTaken);
}

TEST_F(ReceiveLedgerTest, WithdrawsAnEntryOnceAndReportsNothing) {
  ledger_.Want(0);
  EXPECT_TRUE(ledger_.Withdraw(0));
  EXPECT_FALSE(ledger_.Withdraw(0));
  EXPECT_FALSE(ledger_.Withdraw(1)) << "it was never wanted";
  EXPECT_FALSE(ledger_.Withdraw(9)) << "there is no such entry";
  ledger_.Fail(0, Status::Of(Code::kDiskFull));
  EXPECT_TRUE(ledger_.TakeNews().problems.empty()) << "it had failed already";
}

TEST_F(ReceiveLedgerTest, CountsTheBytesOfADiscardedEntryUntilItIsDone) {
  ledger_.Want(0);
  ledger_.Discard(0);
  ledger_.Discard(1);
  EXPECT_EQ(ledger_.StateOf(1), State::kNone) << "it was never wanted";
  ledger_.AddDiscarded(0, 3, 5);
  EXPECT_EQ(ledger_.StateOf(0), State::kDiscarded);
  ledger_.AddDiscarded(0, 2, 5);
  EXPECT_EQ(ledger_.StateOf(0), State::kDone);
  EXPECT_EQ(ledger_.progress().bytes, 5u);
  EXPECT_EQ(ledger_.progress().placed_bytes, 5u);
}

TEST_F(ReceiveLedgerTest, CountsSkippedAndResumedBytesAsProgress) {
  ledger_.AddSkipped(10);
  ledger_.AddSkipped(20);
  ledger_.RemoveSkipped(10);
  ledger_.AddResumed(5);
  ledger_.AddBytes(1);
  const ReceiveProgress progress = ledger_.progress();
  EXPECT_EQ(progress.skipped, 1u);
  EXPECT_EQ(progress.skipped_bytes, 20u);
  EXPECT_EQ(progress.resumed_bytes, 5u);
  EXPECT_EQ(progress.bytes, 26u);
}

}  // namespace
}  // namespace keibi::receive
