// SPDX-License-Identifier: MPL-2.0
#include "mount/unsent_changes.h"

#include <gtest/gtest.h>

namespace keibi::mount {
namespace {

using Ranged = std::vector<std::pair<uint64_t, uint64_t>>;

constexpr FileVersion kBase{100, 7};

class UnsentChangesTest : public testing::Test {
 protected:
  Put Begin(const FileVersion& now, uint64_t most_bytes = UINT64_MAX, bool sync = false) {
    Put put;
    EXPECT_TRUE(changes_->Begin(kBase, now, sync, most_bytes, &put));
    return put;
  }

  std::atomic<uint64_t> total_{0};
  std::optional<UnsentChanges> changes_{std::in_place, kBase.size, &total_};
};

TEST_F(UnsentChangesTest, CountsItsBytesUntilTheyArePut) {
  changes_->Write(10, 30);
  EXPECT_EQ(total_, 20u);
  const Put put = Begin({100, 8});
  EXPECT_EQ(put.ranges, (Ranged{{10, 20}}));
  EXPECT_EQ(total_, 20u) << "a pending put still counts";
  changes_->Done(put);
  EXPECT_EQ(total_, 0u);
  EXPECT_FALSE(changes_->NeedsPut(false));
  EXPECT_EQ(changes_->put_changes(), changes_->changes());
  changes_->Write(0, 5);
  changes_.reset();
  EXPECT_EQ(total_, 0u);
}

TEST_F(UnsentChangesTest, APartOfTheBytesIsAVersionOfItsOwnAndIsNotSynced) {
  changes_->Write(0, 50);
  const Put put = Begin({100, 9'000'000'000}, 20, true);
  EXPECT_EQ(put.ranges, (Ranged{{0, 20}}));
  EXPECT_FALSE(put.sync);
  EXPECT_LT(put.now.mtime_ns, 9'000'000'000);
  EXPECT_EQ(put.changes, 0u);
  changes_->Done(put);
  EXPECT_TRUE(changes_->NeedsPut(false));
  EXPECT_EQ(Begin({100, 9'000'000'000}).ranges, (Ranged{{20, 30}}));
}

TEST_F(UnsentChangesTest, AFailedPutKeepsWhatWasNotCutOffMeanwhile) {
  changes_->Write(0, 50);
  const Put put = Begin({100, 8});
  changes_->Truncate(30);
  changes_->Failed(put);
  const Put again = Begin({30, 9});
  EXPECT_EQ(again.ranges, (Ranged{{0, 30}}));
  EXPECT_EQ(again.keep, 30u);
}

TEST_F(UnsentChangesTest, OnlyOnePutIsPending) {
  changes_->SetMtime();
  const Put put = Begin({100, 8});
  changes_->Write(0, 1);
  Put other;
  EXPECT_FALSE(changes_->Begin(kBase, {100, 9}, false, UINT64_MAX, &other));
  changes_->Done(put);
  EXPECT_TRUE(changes_->Begin(kBase, {100, 9}, false, UINT64_MAX, &other));
}

}  // namespace
}  // namespace keibi::mount
