// SPDX-License-Identifier: MPL-2.0
#include "share/lock_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "disk_tree.h"
#include "platform/range_lock.h"
#include "share/write_ledger.h"

namespace keibi::share {
namespace {

using core::Code;
using platform::LockKind;
using Range = platform::LockRanges::Range;

TEST(LockRanges, TakeThePlaceOfWhatTheyCover) {
  platform::LockRanges ranges;
  ranges.Set({10, 20}, LockKind::kExclusive);
  ranges.Set({20, 30}, LockKind::kExclusive);
  EXPECT_EQ(ranges.Within({}), (std::vector<Range>{{{10, 30}, LockKind::kExclusive}}));
  ranges.Set({15, 25}, LockKind::kShared);
  EXPECT_EQ(ranges.count(), 3u);
  EXPECT_EQ(ranges.Within({24, 26}),
            (std::vector<Range>{{{24, 25}, LockKind::kShared}, {{25, 26}, LockKind::kExclusive}}));
  ranges.Set({12, platform::kLockEnd}, LockKind::kNone);
  EXPECT_EQ(ranges.Within({}), (std::vector<Range>{{{10, 12}, LockKind::kExclusive}}));
  EXPECT_FALSE(ranges.Touches({12, 100}));
  ranges.Set({5, 5}, LockKind::kShared);
  EXPECT_EQ(ranges.count(), 1u);
  ranges.Set({}, LockKind::kNone);
  EXPECT_TRUE(ranges.empty());
}

TEST(LockRanges, LeaveTheRestOfAFile) {
  EXPECT_EQ(platform::SpansBeside({}), (std::vector<platform::LockSpan>{{}}));
  EXPECT_EQ(platform::SpansBeside({{20, 30}, {10, 25}, {40, platform::kLockEnd}}),
            (std::vector<platform::LockSpan>{{0, 10}, {30, 40}}));
  EXPECT_TRUE(platform::SpansBeside({{0, platform::kLockEnd}}).empty());
}

class LockTableTest : public testing::Test {
 protected:
  LockTableTest() { test::WriteFile(share_ / "file", "content"); }

  static WantedLock Of(uint8_t program, platform::LockSpan span, LockKind kind, bool whole = false) {
    return {{{program}, whole}, span, kind};
  }
  // Returns 0, or the errno of the refusal.
  int Lock(LockTable* table, const WantedLock& wanted, const std::string& path = "file") {
    granted_ = {};
    const core::Status status = table->Lock(path, wanted, &granted_);
    if (status.ok() && granted_.entry.empty()) return EAGAIN;
    return status.ok() ? 0 : status.code == Code::kCallFailed ? status.system_error : -1;
  }
  std::shared_ptr<LockTable> NewGuest() {
    return std::make_shared<LockTable>(ServedFolder{share_.path().string(), ""}, ledger_.lock_room());
  }
  core::Fd Local() const { return core::Fd(open((share_ / "file").c_str(), O_RDWR)); }
  core::Status Put(const std::shared_ptr<LockTable>& locks) {
    struct stat now {};
    stat((share_ / "file").c_str(), &now);
    const disk::FileVersion base{7, now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
    std::shared_ptr<WriteHandle> file;
    core::Status status = ledger_.Open({share_.path().string(), ""}, "file", {base, {++tokens_}, 7}, &file, locks);
    std::vector<uint8_t> entry;
    if (status.ok()) status = ledger_.Commit(file, {{7, ++clock_}, false}, &entry);
    return status;
  }

  test::Folder share_;
  WriteLedger ledger_;
  GrantedLock granted_;
  uint8_t tokens_ = 0;
  int64_t clock_ = 7;
};

TEST_F(LockTableTest, ExcludesPrograms) {
  const auto guest = NewGuest(), other = NewGuest();
  const core::Fd local = Local();
  ASSERT_EQ(Lock(guest.get(), Of(1, {10, 20}, LockKind::kExclusive)), 0);
  EXPECT_EQ(platform::LockSpanOf(local.get(), {19, 20}, LockKind::kShared), EAGAIN);
  EXPECT_EQ(Lock(guest.get(), Of(2, {10, 11}, LockKind::kShared)), EAGAIN);
  EXPECT_EQ(Lock(other.get(), Of(1, {10, 11}, LockKind::kShared)), EAGAIN);
  EXPECT_EQ(Lock(guest.get(), Of(1, {10, 20}, LockKind::kShared)), 0);
  EXPECT_EQ(platform::LockSpanOf(local.get(), {19, 20}, LockKind::kShared), 0);
  std::optional<Range> found;
  ASSERT_TRUE(guest->Test("file", Of(1, {}, LockKind::kExclusive), &found).ok());
  EXPECT_EQ(found, (Range{{19, 20}, LockKind::kShared}));
  guest->Unlock(granted_.holder, {});
  EXPECT_EQ(platform::LockSpanOf(local.get(), {}, LockKind::kExclusive), 0);
  EXPECT_EQ(ledger_.lock_room()->files, 0u);
  EXPECT_EQ(ledger_.lock_room()->ranges, 0u);
}

TEST_F(LockTableTest, KeepsWholeFilesApartFromRanges) {
  const auto guest = NewGuest();
  const core::Fd local = Local();
  ASSERT_EQ(Lock(guest.get(), Of(1, {}, LockKind::kExclusive, true)), 0);
  EXPECT_EQ(flock(local.get(), LOCK_SH | LOCK_NB), -1);
  EXPECT_EQ(platform::LockSpanOf(local.get(), {}, LockKind::kExclusive), 0);
  guest->Close();
  EXPECT_EQ(flock(local.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(guest->Lock("file", Of(1, {}, LockKind::kShared, true), &granted_).code, Code::kCancelled);
}

TEST_F(LockTableTest, NamesNothingOutsideOfTheFolder) {
  const auto guest = NewGuest();
  std::filesystem::create_symlink("file", share_ / "link");
  std::filesystem::create_directory(share_ / "folder");
  for (const char* const path : {"../file", "/file", "", "link", "folder", "none"}) {
    EXPECT_NE(Lock(guest.get(), Of(1, {}, LockKind::kShared), path), 0) << path;
  }
  LockTable one({share_.path().string(), "file"}, ledger_.lock_room());
  EXPECT_EQ(one.Lock("folder/x", Of(1, {}, LockKind::kShared), &granted_).code, Code::kSourceMissing);
  EXPECT_EQ(Lock(&one, Of(1, {}, LockKind::kShared)), 0);
}

TEST_F(LockTableTest, LetsItsGuestPutAndNoOther) {
  const auto guest = NewGuest(), other = NewGuest();
  ASSERT_EQ(Lock(guest.get(), Of(1, {100, 200}, LockKind::kExclusive)), 0);
  EXPECT_TRUE(Put(guest).ok());
  EXPECT_EQ(Put(other).system_error, EBUSY);
  EXPECT_EQ(Put(nullptr).system_error, EBUSY);
  const core::Fd local = Local();
  ASSERT_EQ(platform::LockSpanOf(local.get(), {300, 301}, LockKind::kShared), 0);
  EXPECT_EQ(Put(guest).system_error, EBUSY);
  ASSERT_EQ(platform::LockSpanOf(local.get(), {}, LockKind::kNone), 0);
  ASSERT_EQ(Lock(guest.get(), Of(1, {100, 200}, LockKind::kShared)), 0);
  EXPECT_TRUE(Put(guest).ok());
  ASSERT_EQ(platform::LockSpanOf(local.get(), {150, 151}, LockKind::kShared), 0);
  EXPECT_EQ(Put(guest).system_error, EBUSY) << "another reads there";
}

TEST_F(LockTableTest, AnswersOnceALaterChangeHasAnotherTime) {
  const auto guest = NewGuest();
  for (int turn = 0; turn < 20; turn++) {
    ASSERT_EQ(pwrite(Local().get(), "changed", 7, 0), 7);
    ASSERT_EQ(Lock(guest.get(), Of(1, {}, LockKind::kExclusive)), 0);
    const std::vector<uint8_t> before = granted_.entry;
    ASSERT_EQ(pwrite(Local().get(), "another", 7, 0), 7);
    ASSERT_EQ(Lock(guest.get(), Of(1, {}, LockKind::kExclusive)), 0);
    EXPECT_NE(granted_.entry, before);
  }
}

TEST_F(LockTableTest, IsBounded) {
  const auto guest = NewGuest();
  for (uint64_t i = 0; i + 2 <= LockTable::kMostRanges; i++) {
    ASSERT_EQ(Lock(guest.get(), Of(1, {4 * i, 4 * i + 1}, LockKind::kShared)), 0) << i;
  }
  int refused = 0;
  for (uint64_t i = 0; i < 4; i++) refused += Lock(guest.get(), Of(1, {4 * i + 2, 4 * i + 3}, LockKind::kShared)) != 0;
  EXPECT_GE(refused, 2);
  EXPECT_GE(ledger_.lock_room()->refused, 2u);
  std::vector<std::shared_ptr<LockTable>> guests;
  size_t files = ledger_.lock_room()->files;
  for (; files < LockTable::kMostFilesOfShare; guests.push_back(NewGuest())) {
    const auto more = NewGuest();
    for (size_t i = 0; i < LockTable::kMostFiles && files < LockTable::kMostFilesOfShare; i++, files++) {
      WantedLock wanted = Of(static_cast<uint8_t>(i), {0, 1}, LockKind::kShared);
      wanted.owner.id[1] = static_cast<uint8_t>(i >> 8);
      ASSERT_EQ(Lock(more.get(), wanted), 0) << files;
    }
    guests.push_back(more);
  }
  EXPECT_EQ(Lock(NewGuest().get(), Of(1, {0, 1}, LockKind::kShared)), ENOLCK);
  guests.clear();
  EXPECT_EQ(Lock(NewGuest().get(), Of(1, {0, 1}, LockKind::kShared)), 0);
}

// Two programs of each of two guests, one of this computer, and puts: only one at a time is in the file.
TEST_F(LockTableTest, LetsOneAtATimeIn) {
  const auto guest = NewGuest(), other = NewGuest();
  std::atomic<int> inside = 0, most = 0, turns = 0;
  const auto enter = [&] {
    const int now = ++inside;
    if (now > most) most = now;
    std::this_thread::yield();
    inside--;
    turns++;
  };
  const auto of = [&](const std::shared_ptr<LockTable>& table, uint8_t program) {
    for (int i = 0; i < 200; i++) {
      GrantedLock granted;
      if (!table->Lock("file", Of(program, {0, 8}, LockKind::kExclusive), &granted).ok()) continue;
      if (granted.entry.empty()) continue;
      enter();
      table->Unlock(granted.holder, {});
    }
  };
  const auto local = [&] {
    const core::Fd file = Local();
    for (int i = 0; i < 200; i++) {
      if (platform::LockSpanOf(file.get(), {0, 8}, LockKind::kExclusive) != 0) continue;
      enter();
      platform::LockSpanOf(file.get(), {}, LockKind::kNone);
    }
  };
  std::vector<std::thread> threads;
  for (const auto& table : {guest, other}) {
    for (const uint8_t program : {1, 2}) threads.emplace_back(of, table, program);
  }
  threads.emplace_back(local);
  for (int i = 0; i < 50; i++) guest->PauseFor({0, 0});
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_GT(turns, 0);
}

}  // namespace
}  // namespace keibi::share
