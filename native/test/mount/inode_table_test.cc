// SPDX-License-Identifier: MPL-2.0
#include "mount/inode_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace keibi::mount {
namespace {

using manifest::Entry;
using manifest::EntryType;
using Known = InodeTable::Known;
using Change = ChangeNotices::Change;

Entry File(std::string_view name, uint64_t size = 1) {
  Entry entry;
  entry.name = name;
  entry.size = size;
  entry.mode = 0644;
  return entry;
}

Entry Directory(std::string_view name) {
  Entry entry;
  entry.type = EntryType::kDirectory;
  entry.name = name;
  entry.mode = 0755;
  return entry;
}

class InodeTableTest : public testing::Test {
 protected:
  // A watched tree with a, d and d/b known; the kernel holds all three.
  void SetUp() override {
    inodes_.Watch(true);
    List(kRootIno, {File("a"), Directory("d")});
    a_ = Hold(kRootIno, "a");
    d_ = Hold(kRootIno, "d");
    List(d_, {File("b")});
    b_ = Hold(d_, "b");
  }

  InodeTable::Invalidations List(uint64_t ino, const std::vector<Entry>& entries) {
    std::string path;
    InodeTable::Doubt doubt;
    EXPECT_TRUE(inodes_.Ask(ino, &path, &doubt));
    return inodes_.PutListing(ino, doubt, entries);
  }
  uint64_t Hold(uint64_t parent, std::string_view name) {
    Found found;
    EXPECT_EQ(inodes_.Lookup(parent, name, false, &found), Known::kYes) << name;
    EXPECT_TRUE(found.sure);
    return found.ino;
  }
  Known Lookup(uint64_t parent, std::string_view name) {
    Found found;
    return inodes_.Lookup(parent, name, false, &found);
  }
  Known Look(uint64_t ino) {
    Found found;
    return inodes_.Look(ino, false, &found);
  }
  uint64_t SizeOf(uint64_t ino) {
    Found found;
    EXPECT_NE(inodes_.Look(ino, true, &found), Known::kAbsent);
    return found.attributes.size;
  }
  std::string PathOf(uint64_t ino) {
    std::string path;
    InodeTable::Doubt doubt;
    return inodes_.Ask(ino, &path, &doubt) ? path : "(none)";
  }
  static bool Announces(const InodeTable::Invalidations& announced, uint64_t parent, const std::string& name) {
    return std::any_of(announced.begin(), announced.end(),
                       [&](const Invalidation& one) { return one.parent == parent && one.name == name; });
  }
  static bool AnnouncesContent(const InodeTable::Invalidations& announced, uint64_t ino) {
    return std::any_of(announced.begin(), announced.end(),
                       [&](const Invalidation& one) { return one.ino == ino && one.content; });
  }

  InodeTable inodes_;
  std::vector<uint64_t> look_;
  uint64_t a_ = 0, d_ = 0, b_ = 0;
};

TEST_F(InodeTableTest, SaysWhatIsThereAndWhatIsNot) {
  EXPECT_EQ(PathOf(b_), "d/b");
  EXPECT_EQ(PathOf(kRootIno), "");
  EXPECT_EQ(Lookup(kRootIno, "none"), Known::kAbsent);
  EXPECT_EQ(Lookup(a_, "below a file"), Known::kAbsent);
  std::vector<Line> lines;
  ASSERT_EQ(inodes_.List(kRootIno, false, &lines), Known::kYes);
  EXPECT_EQ(lines.size(), 2U);
  EXPECT_GT(inodes_.TrustSeconds(), 60);
}

TEST_F(InodeTableTest, ShowsTheSameNumbersInTheNextMountAndNoneTwice) {
  const auto number = [](InodeTable* inodes, uint64_t parent, std::string_view name) {
    Found found;
    EXPECT_EQ(inodes->Lookup(parent, name, true, &found), Known::kYes) << name;
    return found.number;
  };
  const uint64_t a = number(&inodes_, kRootIno, "a"), b = number(&inodes_, d_, "b");
  EXPECT_NE(a, b);
  EXPECT_LT(a, uint64_t{1} << 53);
  std::vector<Line> lines;
  ASSERT_EQ(inodes_.List(d_, false, &lines), Known::kYes);
  EXPECT_EQ(lines.at(0).number, b);

  InodeTable next;
  next.PutListing(kRootIno, 1, {Directory("d"), File("a"), File("z")});
  Found d;
  ASSERT_EQ(next.Lookup(kRootIno, "d", true, &d), Known::kYes);
  next.PutListing(d.ino, 1, {File("b")});
  EXPECT_EQ(number(&next, kRootIno, "a"), a);
  EXPECT_EQ(number(&next, d.ino, "b"), b);

  // A renamed file keeps its number, and a new file in its place gets another.
  inodes_.own_changes().Renamed(kRootIno, "a", kRootIno, "c", false);
  EXPECT_EQ(number(&inodes_, kRootIno, "c"), a);
  Found made;
  inodes_.own_changes().Made(kRootIno, File("a"), &made);
  EXPECT_NE(made.number, a);
}

TEST_F(InodeTableTest, NoticesOfBytesLeaveTheModeAloneAndTheOtherWayRound) {
  const auto attributes = [this] {
    Found found;
    EXPECT_EQ(inodes_.Look(a_, true, &found), Known::kYes);
    return found.attributes;
  };
  std::string path;
  InodeTable::Doubt before;
  ASSERT_TRUE(inodes_.Ask(a_, &path, &before));
  Entry made = File("a"), put = File("a", 9);
  made.mode = 0755;
  inodes_.own_changes().Changed(a_, made, OwnChanges::What::kMode);
  inodes_.own_changes().Changed(a_, put, OwnChanges::What::kContent);  // examined there before the mode change
  EXPECT_EQ(attributes().mode, 0755);
  EXPECT_EQ(attributes().size, 9U);
  inodes_.own_changes().Changed(a_, made, OwnChanges::What::kMode);  // and before the bytes arrived
  EXPECT_EQ(attributes().size, 9U);
  EXPECT_EQ(Look(a_), Known::kYes);
  // An answer to a request made before all that.
  inodes_.PutEntry(a_, before, File("a"));
  EXPECT_EQ(attributes().mode, 0755);
  EXPECT_EQ(attributes().size, 9U);
  // Another program's change must still be examined.
  inodes_.notices().Doubted(a_);
  inodes_.own_changes().Changed(a_, put, OwnChanges::What::kContent);
  EXPECT_EQ(Look(a_), Known::kAsk);
  InodeTable::Doubt doubt;
  ASSERT_TRUE(inodes_.Ask(a_, &path, &doubt));
  inodes_.own_changes().Changed(a_, put, OwnChanges::What::kContent);
  Entry found = File("a", 1);
  found.mode = 0600;
  inodes_.PutEntry(a_, doubt, found);
  EXPECT_EQ(attributes().mode, 0600);
  EXPECT_EQ(attributes().size, 9U);
}

TEST_F(InodeTableTest, AsksForADirectoryThatItHasNotSeen) {
  List(d_, {File("b"), Directory("e")});
  const uint64_t e = Hold(d_, "e");
  Found found;
  EXPECT_EQ(inodes_.Lookup(e, "x", false, &found), Known::kAsk);
  EXPECT_EQ(found.ino, 0U);
}

TEST_F(InodeTableTest, AChangedFileIsLookedAtAgainAndNothingElse) {
  const auto announced = inodes_.notices().Apply(Change::kChanged, "d/b", &look_);
  EXPECT_TRUE(AnnouncesContent(announced, b_));
  EXPECT_EQ(Look(b_), Known::kAsk);
  EXPECT_EQ(Look(a_), Known::kYes);
  Found found;
  EXPECT_EQ(inodes_.Lookup(d_, "b", false, &found), Known::kAsk);
  EXPECT_EQ(found.ino, b_);
  std::string path;
  InodeTable::Doubt doubt;
  ASSERT_TRUE(inodes_.Ask(b_, &path, &doubt));
  inodes_.PutEntry(b_, doubt, File("b", 9));
  EXPECT_EQ(Look(b_), Known::kYes);
  EXPECT_EQ(SizeOf(b_), 9U);
}

TEST_F(InodeTableTest, WhatIsMadeIsAskedForAndTheKernelForgetsThatItWasNotThere) {
  const auto announced = inodes_.notices().Apply(Change::kCreated, "d/new", &look_);
  EXPECT_TRUE(Announces(announced, d_, "new"));
  EXPECT_EQ(Lookup(d_, "new"), Known::kAsk);
  List(d_, {File("b"), File("new")});
  EXPECT_EQ(Lookup(d_, "new"), Known::kYes);
  EXPECT_EQ(Hold(d_, "b"), b_);
}

TEST_F(InodeTableTest, WhatIsRemovedIsGoneAtOnceAndWhoHoldsItKeepsWhatItWas) {
  const auto announced = inodes_.notices().Apply(Change::kRemoved, "d", &look_);
  EXPECT_TRUE(Announces(announced, kRootIno, "d"));
  EXPECT_TRUE(Announces(announced, d_, "b"));
  EXPECT_EQ(Lookup(kRootIno, "d"), Known::kAsk);  // it may exist again
  EXPECT_EQ(PathOf(b_), "(none)");
  EXPECT_EQ(Look(b_), Known::kYes);
  EXPECT_EQ(Lookup(d_, "b"), Known::kAbsent);
  inodes_.Forget(b_, 1);
  EXPECT_EQ(Look(b_), Known::kAbsent);
}

TEST_F(InodeTableTest, AMadeDirectoryThatIsKnownAlreadyKeepsItsPlace) {
  inodes_.notices().Apply(Change::kCreated, "d", &look_);
  EXPECT_EQ(PathOf(b_), "d/b");
  EXPECT_EQ(Look(b_), Known::kAsk);
  List(kRootIno, {File("a"), Directory("d")});
  EXPECT_EQ(Hold(kRootIno, "d"), d_);
}

TEST_F(InodeTableTest, AFileThatTakesThePlaceOfAnotherIsAnother) {
  inodes_.notices().Apply(Change::kReplaced, "d/b", &look_);
  List(d_, {File("b", 5)});
  EXPECT_NE(Hold(d_, "b"), b_);
  EXPECT_EQ(SizeOf(b_), 1U);
}

TEST_F(InodeTableTest, KeepsAFileThatIsKnownBeforeTheNoticeOfItsCreation) {
  inodes_.notices().Apply(Change::kCreated, "d/b", &look_);
  EXPECT_EQ(Look(b_), Known::kAsk);
  List(d_, {File("b", 5)});
  EXPECT_EQ(Hold(d_, "b"), b_);
  EXPECT_EQ(SizeOf(b_), 5U);
}

TEST_F(InodeTableTest, AnAnswerDoesNotHideAChangeNotifiedMeanwhile) {
  std::string path;
  InodeTable::Doubt doubt;
  ASSERT_TRUE(inodes_.Ask(d_, &path, &doubt));
  inodes_.notices().Apply(Change::kChanged, "d/b", &look_);
  inodes_.notices().Apply(Change::kCreated, "d/new", &look_);
  inodes_.PutListing(d_, doubt, {File("b", 1)});
  EXPECT_EQ(Look(b_), Known::kAsk);
  EXPECT_EQ(Lookup(d_, "new"), Known::kAsk);
  // A caller that has waited for it must use it, and the kernel does not cache it.
  Found found;
  EXPECT_EQ(inodes_.Lookup(d_, "b", true, &found), Known::kYes);
  EXPECT_FALSE(found.sure);
}

TEST_F(InodeTableTest, AFileFirstSeenAfterItsChangeNoticeIsInDoubt) {
  List(kRootIno, {File("a"), Directory("d"), Directory("e")});
  const uint64_t e = Hold(kRootIno, "e");
  std::string path;
  InodeTable::Doubt doubt;
  ASSERT_TRUE(inodes_.Ask(e, &path, &doubt));
  inodes_.notices().Apply(Change::kChanged, "e/x", &look_);
  inodes_.PutListing(e, doubt, {File("x")});
  EXPECT_EQ(Lookup(e, "x"), Known::kAsk);
}

TEST_F(InodeTableTest, AnotherKindOfThingUnderTheSameNameIsAnother) {
  List(kRootIno, {Directory("a"), Directory("d")});
  const uint64_t now = Hold(kRootIno, "a");
  EXPECT_NE(now, a_);
  EXPECT_EQ(PathOf(a_), "(none)");
  EXPECT_EQ(PathOf(now), "a");
  EXPECT_EQ(Look(a_), Known::kYes);
}

TEST_F(InodeTableTest, AListingThatLacksANameTakesItAway) {
  const auto announced = List(kRootIno, {Directory("d")});
  EXPECT_TRUE(Announces(announced, kRootIno, "a"));
  EXPECT_EQ(Lookup(kRootIno, "a"), Known::kAbsent);
  EXPECT_EQ(Hold(kRootIno, "d"), d_);
}

TEST_F(InodeTableTest, WithoutAWatchNothingIsBelievedForLong) {
  const auto announced = inodes_.Watch(false);
  EXPECT_TRUE(Announces(announced, d_, "b"));
  EXPECT_FALSE(Announces(announced, kRootIno, "d"));  // a program may have it as its working directory
  EXPECT_EQ(Look(a_), Known::kAsk);
  EXPECT_EQ(Lookup(kRootIno, "a"), Known::kAsk);
  List(kRootIno, {File("a"), Directory("d")});
  EXPECT_EQ(Look(a_), Known::kYes);
  EXPECT_LE(inodes_.TrustSeconds(), 1);
}

TEST_F(InodeTableTest, WhileThePeerIsAwayWhatIsKnownIsSaid) {
  inodes_.SetAway(true);
  inodes_.notices().Apply(Change::kChanged, "d/b", &look_);
  inodes_.Watch(false);
  EXPECT_EQ(Look(b_), Known::kYes);
  EXPECT_EQ(Lookup(kRootIno, "d"), Known::kYes);
  EXPECT_EQ(Lookup(kRootIno, "none"), Known::kAbsent);
  inodes_.SetAway(false);
  EXPECT_EQ(Look(b_), Known::kAsk);
}

TEST_F(InodeTableTest, NoticesOfUnknownPathsChangeNothing) {
  for (const char* path : {"", "/", "x/y/z", "d/b/c", "..", "a/", "//"}) {
    for (const Change change : {Change::kCreated, Change::kReplaced, Change::kChanged, Change::kRemoved})
      inodes_.notices().Apply(change, path, &look_);
  }
  EXPECT_EQ(PathOf(b_), "d/b");
  EXPECT_EQ(Look(b_), Known::kYes);
}

TEST_F(InodeTableTest, WhatWeHaveDoneOurselvesIsKnownAndItsEchoPutsNothingInDoubt) {
  Found made;
  inodes_.own_changes().Made(d_, File("new", 0), &made);
  EXPECT_EQ(Hold(d_, "new"), made.ino);
  inodes_.notices().Apply(Change::kCreated, "d/new", &look_);
  EXPECT_EQ(look_, std::vector<uint64_t>{made.ino});
  EXPECT_EQ(Lookup(d_, "none"), Known::kAbsent);
  inodes_.own_changes().Renamed(d_, "new", kRootIno, "moved", false);
  EXPECT_EQ(PathOf(made.ino), "moved");
  EXPECT_EQ(Hold(kRootIno, "moved"), made.ino);
  inodes_.own_changes().Removed(kRootIno, "moved");
  EXPECT_EQ(PathOf(made.ino), "(none)");
  inodes_.notices().Apply(Change::kRemoved, "moved", &look_);
  inodes_.notices().Apply(Change::kRemoved, "d/new", &look_);
  EXPECT_EQ(Lookup(kRootIno, "moved"), Known::kAbsent);
  EXPECT_EQ(Lookup(d_, "new"), Known::kAbsent);
}

TEST_F(InodeTableTest, ADirectoryHasTheTimeReportedByOurOperation) {
  const auto made = [&](const char* name, int64_t mtime_ns) {
    inodes_.own_changes().Made(d_, File(name, 0), nullptr);
    inodes_.own_changes().Expected(d_, name);
    inodes_.own_changes().Became(d_, mtime_ns);
  };
  const auto ask = [&] {
    std::string path;
    InodeTable::Doubt doubt;
    ASSERT_TRUE(inodes_.Ask(d_, &path, &doubt));
    inodes_.PutEntry(d_, doubt, Directory("d"));
    ASSERT_EQ(Look(d_), Known::kYes);
  };
  ask();
  inodes_.own_changes().Expect(d_, "one");
  made("one", 77);
  Found found;
  EXPECT_EQ(inodes_.Look(d_, false, &found), Known::kYes);
  EXPECT_EQ(found.attributes.mtime_ns, 77);
  // After two changes at the same time, it is unknown which was the last there.
  inodes_.own_changes().Expect(d_, "two");
  inodes_.own_changes().Expect(d_, "three");
  made("three", 78);
  EXPECT_EQ(Look(d_), Known::kAsk);
  made("two", 79);
  EXPECT_EQ(Look(d_), Known::kAsk);
  // Another program also changed the directory.
  ask();
  inodes_.own_changes().Expect(d_, "four");
  inodes_.notices().Apply(Change::kCreated, "d/other", &look_);
  made("four", 80);
  EXPECT_EQ(Look(d_), Known::kAsk);
  ask();
  inodes_.own_changes().Expect(d_, "five");
  inodes_.own_changes().Made(d_, File("five", 0), nullptr);
  inodes_.own_changes().Expected(d_, "five");
  inodes_.notices().Apply(Change::kRemoved, "d/other-of-before", &look_);
  inodes_.notices().Apply(Change::kCreated, "d/other-again", &look_);
  inodes_.own_changes().Became(d_, 81);
  EXPECT_EQ(Look(d_), Known::kAsk);
}

TEST_F(InodeTableTest, AnAnswerOfBeforeUndoesNothingThatWeHaveDone) {
  std::string path;
  InodeTable::Doubt doubt;
  ASSERT_TRUE(inodes_.Ask(d_, &path, &doubt));
  inodes_.own_changes().Made(d_, File("new", 0), nullptr);
  inodes_.own_changes().Removed(d_, "b");
  inodes_.PutListing(d_, doubt, {File("b")});
  Hold(d_, "new");
  Found found;
  EXPECT_EQ(inodes_.Lookup(d_, "b", false, &found), Known::kAsk);
  ASSERT_TRUE(inodes_.Ask(a_, &path, &doubt));
  inodes_.own_changes().Renamed(kRootIno, "a", d_, "a", false);
  inodes_.PutAbsent(a_, doubt);
  EXPECT_EQ(PathOf(a_), "d/a");
  // Requested between the change there and the change here.
  inodes_.own_changes().Moving(a_, true);
  ASSERT_TRUE(inodes_.Ask(a_, &path, &doubt));
  inodes_.PutAbsent(a_, doubt);
  inodes_.own_changes().Moving(a_, false);
  EXPECT_EQ(PathOf(a_), "d/a");
}

TEST_F(InodeTableTest, OneTakesThePlaceOfAnotherOrTheyChangePlaces) {
  inodes_.own_changes().Renamed(kRootIno, "a", d_, "b", true);
  EXPECT_EQ(PathOf(a_), "d/b");
  EXPECT_EQ(PathOf(b_), "a");
  inodes_.own_changes().Renamed(kRootIno, "a", d_, "b", false);
  EXPECT_EQ(PathOf(b_), "d/b");
  EXPECT_EQ(PathOf(a_), "(none)");
}

TEST_F(InodeTableTest, WhatIsNotSentYetKeepsItsPlaceUntilItIs) {
  ASSERT_TRUE(inodes_.own_changes().Pin(b_));
  inodes_.notices().Apply(Change::kRemoved, "d", &look_);
  inodes_.PutAbsent(b_, 1000);
  List(kRootIno, {File("a"), File("d")});
  List(d_, {});
  EXPECT_EQ(PathOf(b_), "d/b");
  EXPECT_FALSE(inodes_.own_changes().Unpin(b_));
  ASSERT_TRUE(inodes_.own_changes().Pin(b_));
  inodes_.notices().Apply(Change::kChanged, "d/b", &look_);
  EXPECT_TRUE(inodes_.own_changes().Unpin(b_));
  inodes_.PutAbsent(b_, 1000);
  EXPECT_EQ(PathOf(b_), "(none)");
  EXPECT_FALSE(inodes_.own_changes().Pin(b_));
}

TEST(InodeTable, EvictsUnusedDirectoriesAboveALimit) {
  InodeTable tree(100);
  tree.Watch(true);
  std::vector<std::string> names;
  for (int i = 0; i < 40; i++) names.push_back("d" + std::to_string(i));
  std::vector<Entry> entries;
  for (const std::string& name : names) entries.push_back(Directory(name));
  std::string path;
  InodeTable::Doubt doubt;
  ASSERT_TRUE(tree.Ask(kRootIno, &path, &doubt));
  tree.PutListing(kRootIno, doubt, entries);
  for (const std::string& name : names) {
    Found found;
    ASSERT_EQ(tree.Lookup(kRootIno, name, false, &found), Known::kYes);
    ASSERT_TRUE(tree.Ask(found.ino, &path, &doubt));
    std::vector<Entry> below;
    for (const std::string& other : names) below.push_back(File(other));
    tree.PutListing(found.ino, doubt, below);
    EXPECT_EQ(tree.Lookup(found.ino, names[0], true, &found), Known::kYes);
    tree.Forget(found.ino, 1);
    EXPECT_LE(tree.size(), 200U);
  }
}

}  // namespace
}  // namespace keibi::mount
