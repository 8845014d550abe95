// SPDX-License-Identifier: MPL-2.0
#include "mount/block_lru.h"

#include <gtest/gtest.h>

namespace keibi::mount {
namespace {

TEST(BlockLruTest, KnowsWhenEachPartWasLastUsed) {
  BlockLru uses(1000);
  ASSERT_EQ(uses.parts(), 4U);
  EXPECT_EQ(uses.count(0), 256U);
  EXPECT_EQ(uses.count(3), 1000U - 768U);
  uses.Touch(255, 257, 1);
  uses.Touch(999, 5000, 2);
  EXPECT_EQ(uses.used(0), 1U);
  EXPECT_EQ(uses.used(1), 1U);
  EXPECT_EQ(uses.used(2), 0U);
  EXPECT_EQ(uses.used(3), 2U);
  uses.Touch(1000, 2000, 3);
  uses.Touch(7, 7, 3);
  EXPECT_EQ(uses.used(0), 1U);
  EXPECT_EQ(uses.used(3), 2U);
  uses.Forget(0);
  EXPECT_EQ(uses.used(0), 0U);
}

TEST(BlockLruTest, AreFewAlsoOfTheLongestFile) {
  constexpr uint32_t kBlocks = uint32_t{1} << 28;  // 16 TiB
  BlockLru uses(kBlocks);
  EXPECT_LE(uses.parts(), 4096U);
  uses.Touch(kBlocks - 1, kBlocks, 5);
  EXPECT_EQ(uses.used(uses.parts() - 1), 5U);
  EXPECT_EQ(uses.first(uses.parts() - 1) + uses.count(uses.parts() - 1), kBlocks);
  EXPECT_EQ(BlockLru(0).parts(), 0U);
}

}  // namespace
}  // namespace keibi::mount
