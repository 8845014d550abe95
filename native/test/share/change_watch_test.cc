// SPDX-License-Identifier: MPL-2.0
#include "share/change_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "disk_tree.h"

namespace keibi::share {
namespace {

using core::Code;
using test::fs::create_directories;
using test::fs::create_directory;
using test::fs::rename;

class ChangeWatchTest : public testing::Test {
 protected:
  void Begin() {
    watch_ = std::make_unique<ChangeWatch>(folder_.path().string(), [this] {
      const std::scoped_lock lock(mutex_);
      woken_ = true;
      wake_.notify_one();
    });
    ASSERT_TRUE(Until([this] { return watching_; }));
    reported_.clear();
  }
  void TearDown() override {
    if (watch_) watch_->Stop();
  }

  // Takes reports until `done`, for 10 s at most.
  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done()) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait_until(lock, deadline, [this] { return woken_; })) return false;
      woken_ = false;
      lock.unlock();
      const Changes taken = watch_->Take();
      for (const Change& change : taken.changes) reported_[change.path] = change.kind;
      watching_ = watching_ || taken.watching;
      missed_ = missed_ || taken.missed;
      trouble_ = taken.trouble;
    }
    return true;
  }
  bool Told(const std::string& path, ChangeKind kind) {
    return Until([&] {
      const auto found = reported_.find(path);
      return found != reported_.end() && found->second == kind;
    });
  }

  test::Folder folder_, outside_;
  std::map<std::string, ChangeKind> reported_;
  bool watching_ = false, missed_ = false;
  core::Status trouble_;
  std::unique_ptr<ChangeWatch> watch_;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
};

TEST_F(ChangeWatchTest, TellsWhatIsMadeChangedRenamedAndRemoved) {
  test::WriteFile(folder_ / "old", "1");
  Begin();
  test::WriteFile(folder_ / "new", "1");
  EXPECT_TRUE(Told("new", ChangeKind::kCreated));
  test::WriteFile(folder_ / "old", "22");
  EXPECT_TRUE(Told("old", ChangeKind::kChanged));
  test::fs::permissions(folder_ / "new", test::fs::perms::owner_read);
  EXPECT_TRUE(Told("new", ChangeKind::kChanged));
  rename(folder_ / "old", folder_ / "other");
  EXPECT_TRUE(Told("old", ChangeKind::kRemoved));
  EXPECT_TRUE(Told("other", ChangeKind::kReplaced));
  test::fs::remove(folder_ / "other");
  EXPECT_TRUE(Told("other", ChangeKind::kRemoved));
  EXPECT_FALSE(missed_);
}

TEST_F(ChangeWatchTest, WatchesDirectoriesThatComeLaterAtAnyDepth) {
  Begin();
  create_directories(outside_ / "tree/a/b/c");
  rename(outside_ / "tree", folder_ / "tree");
  EXPECT_TRUE(Told("tree", ChangeKind::kReplaced));
  test::WriteFile(folder_ / "tree/a/b/c/file", "1");
  EXPECT_TRUE(Told("tree/a/b/c/file", ChangeKind::kCreated));
  create_directories(folder_ / "x/y/z");
  EXPECT_TRUE(Told("x", ChangeKind::kCreated));
  reported_.clear();
  test::WriteFile(folder_ / "x/y/z/file", "1");
  // A newly seen directory is reported itself, and stands for its content at that time.
  EXPECT_TRUE(Until(
      [this] { return reported_.contains("x/y/z/file") || reported_.contains("x/y/z") || reported_.contains("x/y"); }));
}

TEST_F(ChangeWatchTest, FollowsADirectoryToItsNewNameAndLetsGoOfOneThatIsMovedAway) {
  create_directories(folder_ / "a/sub");
  create_directory(folder_ / "b");
  Begin();
  rename(folder_ / "a", folder_ / "b/moved");
  EXPECT_TRUE(Told("a", ChangeKind::kRemoved));
  EXPECT_TRUE(Told("b/moved", ChangeKind::kReplaced));
  test::WriteFile(folder_ / "b/moved/sub/file", "1");
  EXPECT_TRUE(Told("b/moved/sub/file", ChangeKind::kCreated));

  rename(folder_ / "b/moved", outside_ / "away");
  EXPECT_TRUE(Told("b/moved", ChangeKind::kRemoved));
  reported_.clear();
  test::WriteFile(outside_ / "away/sub/secret", "1");
  test::WriteFile(folder_ / "last", "1");
  EXPECT_TRUE(Told("last", ChangeKind::kCreated));
  for (const auto& [path, _] : reported_) EXPECT_EQ(path, "last");
}

TEST_F(ChangeWatchTest, TellsNothingBehindASymlinkNorWhatIsStillBeingReceived) {
  create_directories(folder_ / ".keibidrop-partial");
  create_directory(outside_ / "d");
  test::fs::create_directory_symlink(outside_.path(), folder_ / "link");
  Begin();
  test::WriteFile(outside_ / "d/secret", "1");
  test::WriteFile(outside_ / "secret", "1");
  test::WriteFile(folder_ / ".keibidrop-partial/data", "1");
  test::WriteFile(folder_ / "last", "1");
  EXPECT_TRUE(Told("last", ChangeKind::kCreated));
  for (const auto& [path, _] : reported_) EXPECT_EQ(path, "last");
}

TEST_F(ChangeWatchTest, SaysToLookAgainInsteadOfKeepingMoreThanItMay) {
  Begin();
  // Retry if some were taken before all existed.
  EXPECT_TRUE(Until([this] {
    if (missed_) return true;
    for (size_t i = 0; i <= ChangeNotes::kMost; i++) test::WriteFile(folder_ / std::to_string(i), "");
    return false;
  }));
  // The remaining reports may again be too many.
  for (bool seen = false; !seen; seen = reported_.contains("last")) {
    missed_ = false;
    test::WriteFile(folder_ / "last", "1");
    ASSERT_TRUE(Until([this] { return missed_ || reported_.contains("last"); }));
  }
}

TEST_F(ChangeWatchTest, SaysSoWhenTheFolderIsGone) {
  Begin();
  test::fs::remove_all(folder_.path());
  EXPECT_TRUE(Until([this] { return trouble_.code == Code::kSourceMissing; }));
  EXPECT_TRUE(missed_);
}

TEST_F(ChangeWatchTest, StopsTwiceAndWhileItIsLookingAround) {
  for (int i = 0; i < 300; i++) create_directories(folder_ / ("d/" + std::to_string(i) + "/e"));
  watch_ = std::make_unique<ChangeWatch>(folder_.path().string(), [] {});
  watch_->Stop();
  watch_->Stop();
}

}  // namespace
}  // namespace keibi::share
