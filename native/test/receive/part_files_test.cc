// SPDX-License-Identifier: MPL-2.0
#include "receive/part_files.h"

#include <gtest/gtest.h>

#include "core/limits.h"
#include "disk_tree.h"

// The limits of the parts that a sender can make a receiver keep.
namespace keibi::receive {
namespace {

using core::Code;
using manifest::Entry;

constexpr uint64_t kLargeBytes = 2 * core::kChunkBytes;

class PartFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    destination_ = core::Fd(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(staging_.Open(destination_.get()).ok());
  }
  void TearDown() override {
    parts_.Stop();
    staging_.Close();
  }

  // Adds `count` wanted files of `bytes` to the table.
  void Offer(uint32_t count, uint64_t bytes) {
    std::vector<uint8_t> page;
    for (uint32_t i = 0; i < count; i++) manifest::AppendEntry(&page, FileOf(i, bytes));
    ASSERT_TRUE(table_.AddPage(page.data(), page.size(), 0, count).ok());
    ledger_.Resize(count);
    for (uint32_t i = 0; i < count; i++) ledger_.Want(i);
  }
  static Entry FileOf(uint32_t index, uint64_t bytes) {
    static thread_local std::string name;
    name = "file" + std::to_string(index);
    Entry entry;
    entry.type = manifest::EntryType::kFile;
    entry.mode = 0644;
    entry.name = name;
    entry.size = bytes;
    entry.sparse = true;
    return entry;
  }
  Code Begin(uint32_t index) {
    Entry entry;
    EXPECT_TRUE(table_.Find(index, &entry));
    part_ = nullptr;
    return parts_.Take(index, entry, &part_).code;
  }

  test::Folder folder_;
  core::Fd destination_;
  manifest::EntryTable table_;
  Staging staging_;
  ReceiveLedger ledger_{false, [] {}};
  PartFiles parts_{table_, staging_, ledger_};
  std::shared_ptr<PartFile> part_;
};

TEST_F(PartFilesTest, ReturnsTheSamePartUntilItsEntryIsSettled) {
  Offer(1, kLargeBytes);
  ASSERT_EQ(Begin(0), Code::kOk);
  const std::shared_ptr<PartFile> first = part_;
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(Begin(0), Code::kOk);
  EXPECT_EQ(part_, first);
  ASSERT_TRUE(ledger_.Withdraw(0));
  parts_.Discard(0);
  ASSERT_EQ(Begin(0), Code::kOk);
  EXPECT_EQ(part_, nullptr);
}

TEST_F(PartFilesTest, RefusesMoreFilesBegunAtOnceThanAnHonestSenderHas) {
  constexpr uint32_t kMost = 1024;
  Offer(kMost + 1, kLargeBytes);
  for (uint32_t i = 0; i < kMost; i++) ASSERT_EQ(Begin(i), Code::kOk);
  EXPECT_EQ(Begin(kMost), Code::kLimitExceeded);
  parts_.Drop(0);
  EXPECT_EQ(Begin(kMost), Code::kOk);
}

TEST_F(PartFilesTest, RefusesFilesWhoseBitmapsTakeTooMuchMemory) {
  Offer(64, core::kMaxSparseBytes);
  uint32_t begun = 0;
  while (begun < 64 && Begin(begun) == Code::kOk) begun++;
  EXPECT_GE(begun, 17u);
  EXPECT_LT(begun, 64u);
}

TEST_F(PartFilesTest, ContinuesThePartOfAnEarlierRun) {
  Offer(1, kLargeBytes);
  ASSERT_EQ(Begin(0), Code::kOk);
  const std::string content = test::Content(core::kChunkBytes);
  PartFile::Written written;
  ASSERT_TRUE(part_->Write(0, reinterpret_cast<const uint8_t*>(content.data()), core::kChunkBytes, &written).ok());
  parts_.Stop();
  PartFiles later(table_, staging_, ledger_);
  Entry entry;
  ASSERT_TRUE(table_.Find(0, &entry));
  std::shared_ptr<PartFile> part;
  EXPECT_EQ(later.Resume(0, entry, &part), PartFile::Found::kRest);
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->held().held(), 1u);
}

}  // namespace
}  // namespace keibi::receive
