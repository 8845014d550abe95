// SPDX-License-Identifier: MPL-2.0
#include "send/walker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "disk_tree.h"
#include "manifest/bitmap.h"
#include "manifest/segment.h"
#include "send/send_queue.h"

namespace keibi::send {
namespace {

using core::Code;
using manifest::EntryTable;

class WalkerTest : public testing::Test {
 protected:
  WalkTotals Walk(std::vector<Root> roots, const SelectionOptions& selection = {}) {
    Walker walker(std::move(roots), &tops_, &table_, &dirs_,
                  {[this](const EntryTable::Page& page) {
                     pages_.push_back(page);
                     return pages_.size() < stop_after_;
                   },
                   [this](WalkProblem problem) { problems_.push_back(std::move(problem)); }},
                  selection);
    return walker.Run();
  }
  WalkTotals Walk() { return Walk({{folder_.path().string(), "top"}}); }

  std::set<std::string> Paths() const {
    std::set<std::string> paths;
    for (uint32_t i = 0; i < table_.size(); i++) paths.insert(table_.PathOf(i));
    return paths;
  }
  Code ProblemOf(const std::string& path) const {
    for (const WalkProblem& problem : problems_) {
      if (problem.path == path) return problem.status.code;
    }
    return Code::kOk;
  }

  test::Folder folder_;
  std::vector<Root> tops_;
  EntryTable table_;
  disk::DirHandles dirs_{table_,
                         [this](uint32_t index, const manifest::Entry&, core::Fd* fd) {
                           return OpenRoot(tops_[index], O_RDONLY | O_DIRECTORY, fd);
                         },
                         Code::kSourceUnreadable};
  std::vector<EntryTable::Page> pages_;
  std::vector<WalkProblem> problems_;
  size_t stop_after_ = SIZE_MAX;
};

TEST_F(WalkerTest, OffersFilesDirectoriesAndSymlinksWithTheirMetadata) {
  test::fs::create_directories(folder_ / "d/empty");
  test::WriteFile(folder_ / "d/f", "four");
  test::fs::permissions(folder_ / "d/f", static_cast<test::fs::perms>(04640));
  test::SetMtime(folder_ / "d/f", -1'500'000'001);
  test::fs::create_symlink("../..", folder_ / "d/l");
  const WalkTotals totals = Walk();
  EXPECT_EQ(totals.entries, 5u);
  EXPECT_EQ(totals.files, 1u);
  EXPECT_EQ(totals.bytes, 4u);
  EXPECT_EQ(Paths(), (std::set<std::string>{"top", "top/d", "top/d/empty", "top/d/f", "top/d/l"}));
  EXPECT_TRUE(problems_.empty());
  for (uint32_t i = 0; i < table_.size(); i++) {
    manifest::Entry entry;
    table_.Find(i, &entry);
    EXPECT_EQ(entry.target, entry.name == "l" ? "../.." : "");
    if (entry.name != "f") continue;
    EXPECT_EQ(entry.mode, 0640);  // without its setuid bit
    EXPECT_EQ(entry.mtime_ns, -1'500'000'001);
  }
}

TEST_F(WalkerTest, LeavesOutWhatThePatternsName) {
  test::fs::create_directories(folder_ / "build/deep");
  test::fs::create_directories(folder_ / "src/build");
  test::WriteFile(folder_ / "build/deep/f", "x");
  test::WriteFile(folder_ / "src/a.tmp", "x");
  test::WriteFile(folder_ / "src/keep.tmp", "keep");
  const WalkTotals totals = Walk({{folder_.path().string(), "top"}}, {.exclude = "/build\n*.tmp\n!keep.tmp"});
  EXPECT_EQ(Paths(), (std::set<std::string>{"top", "top/src", "top/src/build", "top/src/keep.tmp"}));
  EXPECT_EQ(totals.left_out, 2u);
  EXPECT_EQ(totals.bytes, 4u);
}

TEST_F(WalkerTest, AppliesEachGitignoreBelowItsFolderAndTheOptionsFirst) {
  test::fs::create_directories(folder_ / "src/inner");
  test::WriteFile(folder_ / ".gitignore", "*.o\n/only-here\n");
  test::WriteFile(folder_ / "src/.gitignore", "!wanted.o\ninner/x\n");
  for (const char* name :
       {"a.o", "only-here", "src/a.o", "src/wanted.o", "src/only-here", "src/inner/x", "src/inner/y"})
    test::WriteFile(folder_ / name, "x");
  Walk({{folder_.path().string(), "top"}}, {.exclude = "y", .gitignore = true});
  EXPECT_EQ(Paths(), (std::set<std::string>{"top", "top/.gitignore", "top/src", "top/src/.gitignore",
                                            "top/src/wanted.o", "top/src/only-here", "top/src/inner"}));
  EXPECT_TRUE(problems_.empty());
}

TEST_F(WalkerTest, SendsNothingOfAFolderWhoseGitignoreIsTooLong) {
  test::fs::create_directories(folder_ / "d");
  test::WriteFile(folder_ / "d/.gitignore", std::string(Selection::kMaxIgnoreFileBytes + 1, 'x'));
  test::WriteFile(folder_ / "d/secret", "x");
  Walk({{folder_.path().string(), "top"}}, {.gitignore = true});
  EXPECT_EQ(Paths(), (std::set<std::string>{"top", "top/d"}));
  EXPECT_EQ(ProblemOf("top/d/.gitignore"), Code::kLimitExceeded);
}

TEST_F(WalkerTest, FollowsNoGitignoreThatIsASymlink) {
  test::WriteFile(folder_ / "patterns", "*");
  test::fs::create_symlink("patterns", folder_ / ".gitignore");
  Walk({{folder_.path().string(), "top"}}, {.gitignore = true});
  EXPECT_EQ(Paths(), (std::set<std::string>{"top", "top/.gitignore", "top/patterns"}));
}

TEST_F(WalkerTest, GoesDownAThousandLevelsWithoutRunningOutOfDescriptors) {
  constexpr int kLevels = 1000;
  core::Fd at(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < kLevels; i++) {
    ASSERT_EQ(mkdirat(at.get(), "deep", 0755), 0);
    at = core::Fd(openat(at.get(), "deep", O_RDONLY | O_DIRECTORY));
  }
  core::Fd(openat(at.get(), "file", O_WRONLY | O_CREAT, 0644));
  const size_t before = test::OpenDescriptors();
  EXPECT_EQ(Walk().entries, kLevels + 2u);
  EXPECT_TRUE(problems_.empty());
  EXPECT_LT(test::OpenDescriptors(), before + 300);
  // Also from the bottom up, when most of the directories are no longer open.
  disk::SharedFd handle;
  EXPECT_TRUE(dirs_.Get(kLevels / 2, &handle).ok());
  EXPECT_TRUE(dirs_.Get(kLevels, &handle).ok());
}

TEST_F(WalkerTest, WarnsOfWhatIsNoFileAndDoesNotBlockOnIt) {
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0644), 0);
  const core::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", (folder_ / "socket").c_str());
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const WalkTotals totals =
      Walk({{folder_.path().string(), "top"}, {(folder_ / "fifo").string(), "root"}, {"/dev/null", "null"}});
  EXPECT_EQ(totals.entries, 1u);
  EXPECT_EQ(totals.files, 0u);
  for (const char* path : {"top/fifo", "top/socket", "root", "null"})
    EXPECT_EQ(ProblemOf(path), Code::kSourceUnsupported) << path;
}

TEST_F(WalkerTest, RefusesNamesAndTargetsThatCannotTravel) {
  test::WriteFile(folder_ / "bad\xFF", "");
  test::fs::create_symlink("to\xFF", folder_ / "link");
  test::WriteFile(folder_ / "good", "");
  EXPECT_EQ(Walk({{folder_.path().string(), "top"}, {(folder_ / "good").string(), ".keibidrop-partial"}}).entries, 2u);
  EXPECT_EQ(ProblemOf("top/bad\\xff"), Code::kNameUnsendable);
  EXPECT_EQ(ProblemOf("top/link"), Code::kNameUnsendable);
  EXPECT_EQ(ProblemOf(".keibidrop-partial"), Code::kNameUnsendable);
}

TEST_F(WalkerTest, ReportsUnreadableEntriesAndContinues) {
  test::fs::create_directories(folder_ / "closed/inside");
  test::WriteFile(folder_ / "open", "x");
  test::fs::permissions(folder_ / "closed", test::fs::perms::none);
  test::fs::permissions(folder_.path(), test::fs::perms::all);
  const bool root = geteuid() == 0;
  ASSERT_EQ(seteuid(root ? 65534 : geteuid()), 0);
  Walk({{folder_.path().string(), "top"}, {(folder_ / "missing").string(), "gone"}});
  ASSERT_EQ(seteuid(root ? 0 : geteuid()), 0);
  EXPECT_EQ(ProblemOf("top/closed"), Code::kSourceUnreadable);
  EXPECT_EQ(ProblemOf("gone"), Code::kSourceMissing);
  EXPECT_EQ(Paths(), (std::set<std::string>{"top", "top/closed", "top/open"}));
}

TEST_F(WalkerTest, FollowsASymlinkOnlyWhereAPersonNamedIt) {
  test::fs::create_directory(folder_ / "real");
  test::WriteFile(folder_ / "real/f", "x");
  test::fs::create_directory_symlink("real", folder_ / "link");
  Walk({{(folder_ / "link").string(), "link"}});
  EXPECT_EQ(Paths(), (std::set<std::string>{"link", "link/f"}));
}

TEST_F(WalkerTest, HandsOutPagesOfALimitedSizeAndStopsOnRequest) {
  for (int i = 0; i < 3000; i++) test::WriteFile(folder_ / (std::to_string(i) + std::string(60, 'n')), "");
  EXPECT_EQ(Walk().entries, 3001u);
  EXPECT_GE(pages_.size(), 4u);
  uint32_t next = 0;
  for (const EntryTable::Page& page : pages_) {
    EXPECT_EQ(page.first, next);
    EXPECT_LE(page.size, core::kMaxPageBytes);
    next += page.count;
  }
  EXPECT_EQ(next, 3001u);

  stop_after_ = pages_.size() + 1;
  Walk({{folder_.path().string(), "again"}});
  EXPECT_EQ(pages_.size(), stop_after_);
}

TEST_F(WalkerTest, RefusesAFileLongerThanAnyDisk) {
  const core::Fd fd(open((folder_ / "sparse").c_str(), O_WRONLY | O_CREAT, 0644));
  if (ftruncate(fd.get(), static_cast<off_t>(manifest::kMaxChunkedBytes) + 1) != 0)
    GTEST_SUCCEED() << "no such files here";
  else
    EXPECT_EQ((Walk(), ProblemOf("top/sparse")), Code::kLimitExceeded);
}

class SendQueueTest : public testing::Test {
 protected:
  uint32_t Append(uint64_t size, manifest::EntryType type = manifest::EntryType::kFile) {
    const std::string name = std::to_string(table_.size());
    manifest::Entry entry;
    entry.type = type;
    entry.size = size;
    entry.name = name;
    return table_.Append(entry);
  }
  static manifest::Bitmap First(uint32_t chunks, uint32_t held) {
    manifest::Bitmap bitmap(chunks);
    for (uint32_t i = 0; i < held; i++) bitmap.Set(i);
    return bitmap;
  }

  EntryTable table_;
  SendQueue queue_{table_};
  const std::atomic<bool> stays_ = false;
  SendWork work_;
};

TEST_F(SendQueueTest, PacksSmallFilesAndCutsLargeOnes) {
  const uint32_t small = Append(10), empty = Append(0), large = Append(2 * core::kChunkBytes + 1),
                 last = Append(core::kChunkBytes);
  for (const uint32_t index : {small, empty, large, last}) queue_.Want(index);
  queue_.Finish();
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  EXPECT_EQ(work_.pack, (std::vector<uint32_t>{small, empty}));
  for (uint32_t chunk = 0; chunk < 3; chunk++) {
    ASSERT_TRUE(queue_.Take(&work_, stays_));
    EXPECT_EQ(work_.kind, SendWork::Kind::kChunk);
    EXPECT_EQ(work_.chunk, chunk);
  }
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  EXPECT_EQ(work_.pack, std::vector<uint32_t>{last});
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  EXPECT_EQ(work_.kind, SendWork::Kind::kEnd);
}

TEST_F(SendQueueTest, FillsAFrameAndNeverMore) {
  for (int i = 0; i < 300; i++) queue_.Want(Append(40'000));
  queue_.Finish();
  size_t files = 0;
  while (queue_.Take(&work_, stays_) && work_.kind == SendWork::Kind::kPack) {
    EXPECT_LE(1 + work_.pack.size() * (manifest::Segment::kHeaderBytes + 40'000), core::kMaxFramePlaintext);
    files += work_.pack.size();
  }
  EXPECT_EQ(files, 300u);
}

TEST_F(SendQueueTest, LeavesOutTheChunksThatAreHeld) {
  queue_.WantRest(Append(4 * core::kChunkBytes), First(4, 3));
  queue_.Finish();
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  EXPECT_EQ(work_.chunk, 3u);
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  EXPECT_EQ(work_.kind, SendWork::Kind::kEnd);
}

TEST_F(SendQueueTest, ForgetsADroppedFileBeforeAndWhileItIsSent) {
  const uint32_t now = Append(4 * core::kChunkBytes), later = Append(4 * core::kChunkBytes), small = Append(1);
  queue_.Want(now);
  queue_.WantRest(later, First(4, 1));
  queue_.Want(small);
  queue_.Finish();
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  queue_.Drop(now);
  queue_.Drop(later);
  queue_.Drop(small);
  queue_.Drop(manifest::kTop);  // no such entry
  ASSERT_TRUE(queue_.Take(&work_, stays_));
  EXPECT_EQ(work_.kind, SendWork::Kind::kEnd);
}

// Regression: a lane that waited when a large file was wanted kept sleeping while another lane sent all of it.
TEST_F(SendQueueTest, WakesEveryLaneForTheChunksOfOneFile) {
  constexpr int kLanes = 4;
  std::atomic<int> with_work = 0;
  std::vector<std::thread> lanes;
  for (int i = 0; i < kLanes; i++) {
    lanes.emplace_back([&] {
      SendWork work;
      if (!queue_.Take(&work, stays_)) return;
      for (with_work++; with_work < kLanes;) std::this_thread::yield();  // holds its chunk until every lane has one
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // most lanes wait by now; the test holds either way
  queue_.Want(Append(100 * core::kChunkBytes));
  for (std::thread& lane : lanes) lane.join();
  EXPECT_EQ(with_work, kLanes);
}

}  // namespace
}  // namespace keibi::send
