// SPDX-License-Identifier: MPL-2.0
#include "mount/prefetch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mount/inode_table.h"

namespace keibi::mount {
namespace {

using manifest::Entry;
using manifest::EntryType;

constexpr uint64_t kMost = uint64_t{4} << 20;

std::string Numbered(const std::string& name, size_t i) {
  std::string digits = std::to_string(i);
  return name + std::string(4 - digits.size(), '0') + digits;
}

// A watched tree: small files `f0000` and so on in the root.
class PrefetchTest : public testing::Test {
 protected:
  void SetUp() override { inodes_.Watch(true); }

  std::vector<uint64_t> List(uint64_t ino, const std::string& name, size_t count, EntryType type,
                             uint64_t size = 1000) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; i++) names.push_back(Numbered(name, i));
    std::vector<Entry> entries(count);
    for (size_t i = 0; i < count; i++) {
      entries[i].name = names[i];
      entries[i].type = type;
      entries[i].size = size;
    }
    std::string path;
    InodeTable::Doubt doubt;
    EXPECT_TRUE(inodes_.Ask(ino, &path, &doubt));
    inodes_.PutListing(ino, doubt, entries);
    std::vector<uint64_t> inos;
    for (const std::string& each : names) inos.push_back(inodes_.Child(ino, each));
    return inos;
  }
  Prefetch::Plan Open(uint64_t ino) { return prefetch_.Opened(ino, false, kMost); }
  Prefetch::Plan OpenDirectory(uint64_t ino) { return prefetch_.Opened(ino, true, kMost); }
  std::vector<uint64_t> Names(const std::vector<uint64_t>& all, size_t first, size_t end) {
    return {all.begin() + static_cast<ptrdiff_t>(first), all.begin() + static_cast<ptrdiff_t>(end)};
  }

  InodeTable inodes_;
  Prefetch prefetch_{inodes_.walk()};
};

TEST_F(PrefetchTest, TheSecondOfADirectorysFilesHasTheNextOnesAskedForOnce) {
  const auto files = List(kRootIno, "f", 1000, EntryType::kFile);
  EXPECT_TRUE(Open(files[0]).files.empty());
  EXPECT_EQ(Open(files[1]).files, Names(files, 2, 34));
  size_t asked = 34;
  size_t messages = 0;
  for (size_t i = 2; i < 700; i++) {
    const auto plan = Open(files[i]).files;
    messages += plan.empty() ? 0 : 1;
    EXPECT_EQ(plan, Names(files, asked, asked + plan.size()));
    asked += plan.size();
    EXPECT_LE(asked, i + 1 + 256);
    EXPECT_GT(asked, i + 1);
  }
  EXPECT_LE(messages, 8U);
}

TEST_F(PrefetchTest, WhoJumpsGetsNothing) {
  const auto files = List(kRootIno, "f", 1000, EntryType::kFile);
  for (size_t i = 0; i < 200; i++) EXPECT_TRUE(Open(files[i * 617 % 1000]).files.empty()) << i;
  // After a run and a jump, detection starts over.
  Open(files[0]);
  EXPECT_FALSE(Open(files[1]).files.empty());
  EXPECT_TRUE(Open(files[500]).files.empty());
  EXPECT_FALSE(Open(files[501]).files.empty());
}

TEST_F(PrefetchTest, AFewMayBeLeftOut) {
  const auto files = List(kRootIno, "f", 1000, EntryType::kFile);
  Open(files[0]);
  EXPECT_EQ(Open(files[10]).files, Names(files, 11, 43));
  EXPECT_TRUE(Open(files[12]).files.empty());
  EXPECT_FALSE(Open(files[40]).files.empty());
}

TEST_F(PrefetchTest, SeveralWalksDoNotStopEachOther) {
  const auto files = List(kRootIno, "f", 1000, EntryType::kFile);
  for (const size_t start : {0, 300, 600}) Open(files[start]);
  for (const size_t start : {0, 300, 600}) EXPECT_EQ(Open(files[start + 1]).files.size(), 32U);
  for (const size_t start : {0, 300, 600}) EXPECT_FALSE(Open(files[start + 20]).files.empty());
}

TEST_F(PrefetchTest, LongAndEmptyFilesAreLeftOutAndBytesAreBounded) {
  const auto files = List(kRootIno, "f", 100, EntryType::kFile, kMostSmallBytes);
  Open(files[0]);
  EXPECT_EQ(Open(files[1]).files.size(), 4U);  // 1 MiB
  for (const uint64_t bytes : {uint64_t{0}, kMostSmallBytes + 1}) {
    const auto others = List(kRootIno, std::string("g") + std::to_string(bytes), 100, EntryType::kFile, bytes);
    Open(others[0]);
    EXPECT_TRUE(Open(others[1]).files.empty());
  }
}

TEST_F(PrefetchTest, DirectoriesAreListedAheadOfWhoGoesThroughThem) {
  const auto directories = List(kRootIno, "d", 100, EntryType::kDirectory);
  EXPECT_TRUE(OpenDirectory(kRootIno).lists.empty());
  EXPECT_EQ(OpenDirectory(directories[0]).lists, Names(directories, 1, 3));
  List(directories[0], "f", 10, EntryType::kFile);
  List(directories[1], "f", 10, EntryType::kFile);
  EXPECT_TRUE(prefetch_.Listed(kMost).files.empty());
  prefetch_.Listed(kMost);
  // At most six are pending, however many remain.
  EXPECT_EQ(OpenDirectory(directories[1]).lists.size(), 2U);
  EXPECT_EQ(OpenDirectory(directories[2]).lists.size(), 3U);
  EXPECT_TRUE(OpenDirectory(directories[3]).lists.empty());
  EXPECT_EQ(prefetch_.Listed(kMost).lists.size(), 1U);
}

TEST_F(PrefetchTest, FilesOfTheNextDirectoriesFollowButNoneOutsideOfWhatIsWalked) {
  const auto directories = List(kRootIno, "d", 3, EntryType::kDirectory);
  std::vector<uint64_t> files[3];
  for (size_t i = 0; i < 3; i++) files[i] = List(directories[i], "f", 3, EntryType::kFile);
  OpenDirectory(directories[0]);
  Open(files[0][0]);
  EXPECT_EQ(Open(files[0][1]).files, Names(files[0], 2, 3));
  Prefetch others(inodes_.walk());
  others.Opened(kRootIno, true, kMost);
  others.Opened(directories[0], true, kMost);
  others.Opened(files[0][0], false, kMost);
  EXPECT_EQ(others.Opened(files[0][1], false, kMost).files.size(), 7U);
}

TEST_F(PrefetchTest, WhoHasLookedThroughDirectoriesFirstReadsOnInTheNextOne) {
  const auto directories = List(kRootIno, "d", 3, EntryType::kDirectory);
  std::vector<uint64_t> files[3];
  for (size_t i = 0; i < 3; i++) files[i] = List(directories[i], "f", 3, EntryType::kFile);
  OpenDirectory(kRootIno);
  for (const uint64_t directory : directories) OpenDirectory(directory);
  EXPECT_TRUE(Open(files[0][0]).files.empty());
  EXPECT_EQ(Open(files[0][1]).files.size(), 7U);
}

TEST_F(PrefetchTest, NothingIsAskedForOfAPeerThatIsAway) {
  const auto files = List(kRootIno, "f", 100, EntryType::kFile);
  prefetch_.SetAway(true);
  Open(files[0]);
  EXPECT_TRUE(Open(files[1]).files.empty());
  prefetch_.SetAway(false);
  Open(files[2]);
  EXPECT_FALSE(Open(files[3]).files.empty());
}

TEST_F(PrefetchTest, WhatGoesMeanwhileIsNoTrouble) {
  const auto files = List(kRootIno, "f", 100, EntryType::kFile);
  Open(files[0]);
  EXPECT_FALSE(Open(files[1]).files.empty());
  std::vector<uint64_t> look;
  inodes_.notices().Apply(ChangeNotices::Change::kRemoved, "f0002", &look);
  EXPECT_TRUE(Open(files[2]).files.empty());
  EXPECT_TRUE(Open(999'999).files.empty());
  Open(files[3]);
  EXPECT_EQ(Open(files[30]).files.front(), files[34]);
}

}  // namespace
}  // namespace keibi::mount
