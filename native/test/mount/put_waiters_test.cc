// SPDX-License-Identifier: MPL-2.0
#include "mount/put_waiters.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

namespace keibi::mount {
namespace {

using For = PutWaiters::For;
using Time = PutWaiters::Time;

constexpr Time kNever = Time::max();

class PutWaitersTest : public testing::Test {
 protected:
  PutWaiters::Then Answer(For what) {
    return [this, what](int error) { answers_.insert({what, error}); };
  }
  void AddOneOfEach() {
    waiters_.Add(For::kIdle, kNever, Answer(For::kIdle));
    waiters_.Add(For::kClosed, kNever, Answer(For::kClosed), 5);
    waiters_.Add(For::kSent, kNever, Answer(For::kSent));
    waiters_.Add(For::kSynced, kNever, Answer(For::kSynced));
  }
  template <typename Act>
  std::multimap<For, int> After(Act act) {
    answers_.clear();
    {
      DeferredCalls calls;
      act(&calls);
      EXPECT_TRUE(answers_.empty()) << "called while the lock is held";
    }
    return answers_;
  }

  using Answers = std::multimap<For, int>;
  PutWaiters waiters_;
  Answers answers_;
};

TEST_F(PutWaitersTest, AnswersEachWaitOnceItIsFulfilled) {
  AddOneOfEach();
  EXPECT_EQ(After([&](auto* calls) { waiters_.Fulfil({false, false, 4}, calls); }), (Answers{{For::kIdle, 0}}));
  EXPECT_EQ(After([&](auto* calls) { waiters_.Fulfil({false, false, 5}, calls); }), (Answers{{For::kClosed, 0}}));
  EXPECT_EQ(After([&](auto* calls) { waiters_.Fulfil({true, false, 5}, calls); }), (Answers{{For::kSent, 0}}));
  EXPECT_TRUE(waiters_.Has(For::kSynced));
  EXPECT_EQ(After([&](auto* calls) { waiters_.Fulfil({true, true, 5}, calls); }), (Answers{{For::kSynced, 0}}));
  EXPECT_TRUE(waiters_.empty());
}

TEST_F(PutWaitersTest, AFailedPutEndsAllWaitsButThatForNoPut) {
  AddOneOfEach();
  EXPECT_EQ(After([&](auto* calls) { waiters_.Fail(ENOSPC, calls); }),
            (Answers{{For::kClosed, ENOSPC}, {For::kSent, ENOSPC}, {For::kSynced, ENOSPC}}));
  EXPECT_TRUE(waiters_.Has(For::kIdle));
}

TEST_F(PutWaitersTest, CloseDoesNotWaitWhileTheOtherPeerIsAway) {
  AddOneOfEach();
  EXPECT_EQ(After([&](auto* calls) { waiters_.LetClose(calls); }), (Answers{{For::kClosed, 0}}));
}

TEST_F(PutWaitersTest, AWaitEndsAtItsTime) {
  const Time now = std::chrono::steady_clock::now();
  waiters_.Add(For::kSent, now, Answer(For::kSent));
  waiters_.Add(For::kSynced, now + std::chrono::seconds(1), Answer(For::kSynced));
  EXPECT_EQ(After([&](auto* calls) { waiters_.Expire(now, ETIMEDOUT, calls); }), (Answers{{For::kSent, ETIMEDOUT}}));
  EXPECT_TRUE(waiters_.Has(For::kSynced));
}

}  // namespace
}  // namespace keibi::mount
