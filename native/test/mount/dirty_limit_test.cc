// SPDX-License-Identifier: MPL-2.0
#include "mount/dirty_limit.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

namespace keibi::mount {
namespace {

using Answers = std::vector<int>;

class DirtyLimitTest : public testing::Test {
 protected:
  void Wait(DirtyLimit::Time until = DirtyLimit::Time::max()) {
    limit_.Wait(until, [this](int error) { answers_.push_back(error); });
  }
  void LetWrite() {
    DeferredCalls calls;
    limit_.LetWrite(&calls);
  }

  DirtyLimit limit_{/*most_bytes=*/100, /*most_files=*/2};
  Answers answers_;
};

TEST_F(DirtyLimitTest, IsFullAtItsBytesAndAtItsFiles) {
  EXPECT_FALSE(limit_.IsFull());
  *limit_.total() += 100;
  EXPECT_TRUE(limit_.IsFull());
  *limit_.total() -= 1;
  EXPECT_FALSE(limit_.IsFull());
  limit_.AddFile();
  limit_.AddFile();
  EXPECT_TRUE(limit_.IsFull());
  limit_.RemoveFile();
  EXPECT_FALSE(limit_.IsFull());
}

TEST_F(DirtyLimitTest, LetsWritersContinueOnceThereIsRoom) {
  *limit_.total() += 100;
  Wait();
  Wait();
  LetWrite();
  EXPECT_EQ(answers_, Answers{});
  *limit_.total() -= 100;
  EXPECT_TRUE(limit_.IsFull()) << "a later writer must not overtake those that wait";
  LetWrite();
  EXPECT_EQ(answers_, (Answers{0, 0}));
  EXPECT_FALSE(limit_.HasWriters());
}

TEST_F(DirtyLimitTest, AWriterDoesNotWaitForever) {
  const auto now = std::chrono::steady_clock::now();
  *limit_.total() += 100;
  Wait(now);
  Wait(now + std::chrono::seconds(1));
  {
    DeferredCalls calls;
    limit_.Expire(now, &calls);
  }
  EXPECT_EQ(answers_, Answers{ETIMEDOUT});
  EXPECT_TRUE(limit_.HasWriters());
}

}  // namespace
}  // namespace keibi::mount
