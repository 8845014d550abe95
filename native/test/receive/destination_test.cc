// SPDX-License-Identifier: MPL-2.0
#include "receive/destination.h"

#include <gtest/gtest.h>

#include "disk_tree.h"
#include "platform/write_at.h"
#include "receive/collision_name.h"

namespace keibi::receive {
namespace {

using core::Code;
using manifest::Entry;
using manifest::EntryType;

TEST(CollisionName, PutsTheNumberBeforeTheExtension) {
  EXPECT_EQ(CollisionName("photo.jpg", 2), "photo (2).jpg");
  EXPECT_EQ(CollisionName("archive.tar.gz", 1), "archive.tar (1).gz");
  EXPECT_EQ(CollisionName(".profile", 2), ".profile (2)");
  EXPECT_EQ(CollisionName("Mr. Smith was here and left this as a note", 1),
            "Mr. Smith was here and left this as a note (1)");
}

TEST(CollisionName, ShortensBetweenCharactersToFit) {
  EXPECT_EQ(CollisionName(std::string(255, 'x'), 1), std::string(251, 'x') + " (1)");
  EXPECT_EQ(CollisionName(std::string(251, 'x') + ".jpg", 10000), std::string(243, 'x') + " (10000).jpg");
  for (const std::string character : {"é", "漢", "😀"}) {
    for (size_t pad = 0; pad < 4; pad++) {
      std::string name(pad, 'x');
      while (name.size() + character.size() <= core::kMaxNameBytes) name += character;
      const std::string shorter = CollisionName(name, 1);
      EXPECT_LE(shorter.size(), core::kMaxNameBytes);
      EXPECT_GT(shorter.size(), core::kMaxNameBytes - 8);
      EXPECT_TRUE(manifest::IsUtf8(shorter)) << shorter;
    }
  }
}

class DestinationTest : public testing::Test {
 protected:
  void Open(Collision policy) {
    destination_ = std::make_unique<Destination>(table_, policy);
    policy_ = policy;
    ASSERT_TRUE(destination_->Open(folder_.path().string()).ok());
    ASSERT_TRUE(staging_.Open(destination_->fd()).ok());
  }
  void TearDown() override { staging_.Close(); }

  uint32_t Append(EntryType type, const std::string& name, uint32_t parent = manifest::kTop,
                  const std::string& target = "") {
    Entry entry;
    entry.type = type;
    entry.mode = type == EntryType::kDirectory ? 0755 : 0644;
    entry.name = name;
    entry.parent = parent;
    entry.mtime_ns = kMtime;
    entry.target = target;
    if (type == EntryType::kFile) entry.size = 3;
    return table_.Append(entry);
  }
  uint32_t AppendLarge(const std::string& name, bool sparse) {
    Entry entry;
    entry.name = name;
    entry.mtime_ns = kMtime;
    entry.size = kLarge;
    entry.sparse = sparse;
    return table_.Append(entry);
  }
  Entry At(uint32_t index) const {
    Entry entry;
    EXPECT_TRUE(table_.Find(index, &entry));
    return entry;
  }
  Code MakeDirectory(uint32_t index) { return destination_->MakeDirectory(index, At(index), policy_).code; }
  Code MakeSymlink(uint32_t index) { return destination_->MakeSymlink(index, At(index), staging_).code; }
  // Examines a file that holds "new", and places it if wanted.
  Found Receive(uint32_t index, Code expected = Code::kOk) {
    Found found = Found::kAbsent;
    Code code = destination_->Examine(index, At(index), policy_, &found).code;
    if (code == Code::kOk && found == Found::kAbsent) code = Place(index);
    EXPECT_EQ(code, expected);
    return found;
  }
  Code Place(uint32_t index) {
    core::Fd fd;
    const std::string staged = "s-" + std::to_string(index);
    EXPECT_TRUE(staging_.Create(staged, 0644, &fd).ok());
    EXPECT_TRUE(platform::WriteAt(fd.get(), reinterpret_cast<const uint8_t*>("new"), 3, 0).ok());
    EXPECT_TRUE(platform::SetMtime(fd.get(), kMtime).ok());
    const Code code = destination_->Place(index, At(index), staging_, staged).code;
    if (code != Code::kOk) staging_.Remove(staged);
    return code;
  }
  std::string Read(const std::string& name) { return test::ReadFile(folder_ / name); }
  void Write(const std::string& name, const std::string& content) { test::WriteFile(folder_ / name, content); }

  static constexpr uint64_t kLarge = 4 * core::kChunkBytes;
  static constexpr int64_t kMtime = 1'600'000'000'123'456'789;
  manifest::EntryTable table_;
  test::Folder folder_;
  std::unique_ptr<Destination> destination_;
  Collision policy_ = Collision::kRename;
  Staging staging_;
};

TEST_F(DestinationTest, StaysBelowItsRootWhenThePathIsResolved) {
  const auto open = [&](const std::string& path) {
    return Destination(table_, policy_).Open(path, folder_.path().string()).code;
  };
  const std::string root = folder_.path().string();
  test::Folder outside;
  EXPECT_EQ(open(root), Code::kOk);
  EXPECT_EQ(open(root + "/a/b:\x01/\xff"), Code::kOk);
  EXPECT_TRUE(test::fs::is_directory(folder_.path() / "a" / "b:\x01" / "\xff"));
  test::fs::create_directory_symlink(outside.path(), folder_ / "out");
  test::fs::create_directory_symlink(folder_ / "a", folder_ / "in");
  for (const std::string path : {"/out", "/out/new", "/in/b", "/a/../..", "/..", "/a/./b", "x", ""})
    EXPECT_EQ(open(path.empty() ? outside.path().string() : root + path), Code::kFolderNotAllowed) << path;
  EXPECT_TRUE(test::fs::is_empty(outside.path()));
  Write("file", "no folder");
  EXPECT_EQ(open(root + "/file/new"), Code::kDestinationUnusable);
}

TEST_F(DestinationTest, GivesANewNameToWhatCollides) {
  Open(Collision::kRename);
  Write("a.txt", "mine");
  Write("a (1).txt", "mine too");
  const uint32_t index = Append(EntryType::kFile, "a.txt");
  EXPECT_EQ(Receive(index), Found::kAbsent);
  EXPECT_EQ(Read("a.txt"), "mine");
  EXPECT_EQ(Read("a (1).txt"), "mine too");
  EXPECT_EQ(Read("a (2).txt"), "new");
  EXPECT_EQ(destination_->FinalPath(index), "a (2).txt");
  EXPECT_EQ(Receive(index), Found::kUpToDate);
}

TEST_F(DestinationTest, FindsAnotherNameWhenTheNewOneIsThatOfALaterEntry) {
  Open(Collision::kRename);
  Write("a", "mine");
  const uint32_t first = Append(EntryType::kFile, "a"), second = Append(EntryType::kFile, "a (1)");
  Found found;
  ASSERT_TRUE(destination_->Examine(first, At(first), policy_, &found).ok());
  ASSERT_TRUE(destination_->Examine(second, At(second), policy_, &found).ok());
  EXPECT_EQ(Place(second), Code::kOk);
  test::SetMtime(folder_ / "a (1)", 5);
  EXPECT_EQ(Place(first), Code::kOk);
  EXPECT_EQ(destination_->FinalPath(first), "a (2)");
  EXPECT_EQ(Read("a (2)"), "new");
}

TEST_F(DestinationTest, ReplacesAFileOrASymlinkOnlyWithOverwrite) {
  Open(Collision::kOverwrite);
  test::Folder elsewhere;
  test::WriteFile(elsewhere / "target", "mine");
  Write("a", "old");
  test::fs::create_symlink(elsewhere / "target", folder_ / "l");
  EXPECT_EQ(Receive(Append(EntryType::kFile, "a")), Found::kAbsent);
  EXPECT_EQ(Receive(Append(EntryType::kFile, "l")), Found::kAbsent);
  EXPECT_EQ(Read("a"), "new");
  EXPECT_FALSE(test::fs::is_symlink(folder_ / "l"));
  EXPECT_EQ(test::ReadFile(elsewhere / "target"), "mine");
  test::fs::create_directory(folder_ / "d");
  Receive(Append(EntryType::kFile, "d"), Code::kDestinationExists);
}

TEST_F(DestinationTest, LeavesAloneWhatItIsToSkip) {
  Open(Collision::kSkip);
  Write("a", "mine");
  EXPECT_EQ(Receive(Append(EntryType::kFile, "a")), Found::kSkipped);
  EXPECT_EQ(Read("a"), "mine");
}

TEST_F(DestinationTest, AsksWithAskAndFollowsTheAnswer) {
  Open(Collision::kAsk);
  Write("a", "mine");
  const uint32_t index = Append(EntryType::kFile, "a");
  EXPECT_EQ(Receive(index), Found::kCollides);
  policy_ = Collision::kRename;
  EXPECT_EQ(Receive(index), Found::kAbsent);
  EXPECT_EQ(Read("a (1)"), "new");
}

TEST_F(DestinationTest, NeverReplacesWhatAppearedAfterItLooked) {
  Open(Collision::kSkip);
  const uint32_t index = Append(EntryType::kFile, "a");
  Found found;
  ASSERT_TRUE(destination_->Examine(index, At(index), policy_, &found).ok());
  Write("a", "mine");
  EXPECT_EQ(Place(index), Code::kDestinationExists);
  EXPECT_EQ(Read("a"), "mine");
}

TEST_F(DestinationTest, KnowsWhatIsUpToDateBySizeAndMtime) {
  Open(Collision::kSkip);
  const uint32_t file = Append(EntryType::kFile, "a"), link = Append(EntryType::kSymlink, "l", manifest::kTop, "to");
  Write("a", "any");
  test::SetMtime(folder_ / "a", kMtime);
  test::fs::create_symlink("to", folder_ / "l");
  EXPECT_EQ(Receive(file), Found::kUpToDate);
  EXPECT_EQ(Receive(link), Found::kUpToDate);
  test::SetMtime(folder_ / "a", kMtime + 1);
  EXPECT_EQ(Receive(file), Found::kSkipped);
  test::fs::remove(folder_ / "l");
  test::fs::create_symlink("elsewhere", folder_ / "l");
  EXPECT_EQ(Receive(link), Found::kSkipped);
}

// A power cut can leave this: name, size and time, but not all bytes.
TEST_F(DestinationTest, DoesNotTakeAFileForUpToDateThatHasAHoleWhereTheSendersHasNone) {
  Open(Collision::kSkip);
  const uint32_t dense = AppendLarge("cut", false), sparse = AppendLarge("sparse", true),
                 whole = AppendLarge("whole", false);
  for (const char* const name : {"cut", "sparse"})
    test::WriteSparse(folder_ / name, kLarge, test::Content(core::kChunkBytes), {0, kLarge - core::kChunkBytes});
  Write("whole", std::string(kLarge, '\0'));
  for (const char* const name : {"cut", "sparse", "whole"}) test::SetMtime(folder_ / name, kMtime);
  EXPECT_EQ(Receive(dense), Found::kSkipped);
  EXPECT_EQ(Receive(sparse), Found::kUpToDate);
  EXPECT_EQ(Receive(whole), Found::kUpToDate);
}

TEST_F(DestinationTest, NeverFollowsASymlinkThatStandsForADirectory) {
  for (const Collision policy : {Collision::kSkip, Collision::kOverwrite, Collision::kAsk, Collision::kRename}) {
    std::destroy_at(&table_);
    std::construct_at(&table_);
    staging_.Close();
    Open(policy);
    test::Folder elsewhere;
    test::fs::remove(folder_ / "d");
    test::fs::create_directory_symlink(elsewhere.path(), folder_ / "d");
    const uint32_t directory = Append(EntryType::kDirectory, "d");
    const uint32_t file = Append(EntryType::kFile, "f", directory);
    const bool renames = policy == Collision::kRename;
    EXPECT_EQ(MakeDirectory(directory), renames ? Code::kOk : Code::kDestinationExists);
    Receive(file, renames ? Code::kOk : Code::kDestinationUnusable);
    EXPECT_TRUE(test::fs::is_empty(elsewhere.path()));
    EXPECT_EQ(Read("d (1)/f"), renames ? "new" : "");
  }
}

TEST_F(DestinationTest, NeverFollowsASymlinkPutInPlaceOfADirectoryMeanwhile) {
  Open(Collision::kOverwrite);
  test::Folder elsewhere;
  const uint32_t outer = Append(EntryType::kDirectory, "outer"), inner = Append(EntryType::kDirectory, "inner", outer);
  const uint32_t file = Append(EntryType::kFile, "f", inner);
  EXPECT_EQ(MakeDirectory(outer), Code::kOk);
  EXPECT_EQ(MakeDirectory(inner), Code::kOk);
  test::fs::remove(folder_ / "outer/inner");
  test::fs::create_directory_symlink(elsewhere.path(), folder_ / "outer/inner");
  Receive(file, Code::kDestinationUnusable);
  EXPECT_TRUE(test::fs::is_empty(elsewhere.path()));
}

TEST_F(DestinationTest, MergesIntoADirectoryAndMovesAsideForAFile) {
  Open(Collision::kRename);
  test::fs::create_directory(folder_ / "d");
  Write("d/mine", "mine");
  Write("e", "mine");
  const uint32_t d = Append(EntryType::kDirectory, "d"), e = Append(EntryType::kDirectory, "e");
  const uint32_t in_d = Append(EntryType::kFile, "f", d), in_e = Append(EntryType::kFile, "f", e);
  EXPECT_EQ(MakeDirectory(d), Code::kOk);
  EXPECT_EQ(MakeDirectory(e), Code::kOk);
  Receive(in_d);
  Receive(in_e);
  EXPECT_EQ(Read("d/f"), "new");
  EXPECT_EQ(Read("d/mine"), "mine");
  EXPECT_EQ(Read("e (1)/f"), "new");
  EXPECT_EQ(destination_->FinalPath(in_e), "e (1)/f");
}

TEST_F(DestinationTest, PlacesASymlinkAsItIsAndLeavesNothingBehind) {
  Open(Collision::kSkip);
  const uint32_t link = Append(EntryType::kSymlink, "l", manifest::kTop, "../../etc/passwd");
  EXPECT_EQ(MakeSymlink(link), Code::kOk);
  EXPECT_EQ(test::fs::read_symlink(folder_ / "l"), "../../etc/passwd");
  EXPECT_EQ(test::MtimeOf(folder_ / "l"), kMtime);
  EXPECT_EQ(MakeSymlink(link), Code::kDestinationExists);
  staging_.Close();
  EXPECT_FALSE(test::fs::exists(folder_ / ".keibidrop-partial"));
}

TEST_F(DestinationTest, MakesTheFolderAndThoseAboveIt) {
  Destination nested(table_, Collision::kSkip);
  EXPECT_TRUE(nested.Open((folder_ / "a/b/c").string()).ok());
  Write("file", "");
  EXPECT_EQ(Destination(table_, Collision::kSkip).Open((folder_ / "file").string()).code, Code::kDestinationUnusable);
  EXPECT_FALSE(Destination(table_, Collision::kSkip).Open((folder_ / "file/below").string()).ok());
}

}  // namespace
}  // namespace keibi::receive
