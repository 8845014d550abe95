// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <atomic>
#include <set>

#include "receive/transfer_pair.h"

// --durable: no file gets its name before it is safe. The test observes the system calls that matter: the definitions
// at the end of this file replace the C library's in the whole test program.
namespace keibi::receive {
namespace {

// The synced files, and the files that were renamed into place without a sync.
struct Watch {
  std::mutex mutex;
  bool on = false;
  test::fs::path staging;
  std::set<ino_t> safe;
  std::vector<std::string> unsafe;  // renamed before they were synced
  size_t renames = 0, file_syncs = 0, system_syncs = 0;
  bool last_was_system_sync = false;
};
Watch watch;

using core::Code;
using test::Content;
using test::Pair;

class SyncBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    destination_ = core::Fd(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(staging_.Open(destination_.get()).ok());
  }
  void TearDown() override { staging_.Close(); }

  test::Folder folder_;
  core::Fd destination_;
  Staging staging_;
};

TEST_F(SyncBatchTest, HandsOnEveryFileOnceWhetherTheyComeSinglyOrByThousands) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> placed(2000);
  size_t count = 0;
  SyncBatch batch(staging_, [&](const Finished& file, core::Status safe) {
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(safe.ok());
    placed[file.index]++;
    count++;
    changed.notify_all();
  });
  for (uint32_t i = 0; i < placed.size(); i++) {
    core::Fd fd;
    ASSERT_TRUE(staging_.Create("s-" + std::to_string(i), 0600, &fd).ok());
    batch.Add({i, "s-" + std::to_string(i), nullptr, 0, 0});
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return count >= placed.size(); });
  lock.unlock();
  batch.Stop();
  EXPECT_EQ(placed, std::vector<int>(placed.size(), 1));
}

TEST_F(SyncBatchTest, TellsOfAFileThatIsNotThere) {
  std::atomic<int> failed = 0;
  test::Bell bell;
  SyncBatch batch(staging_, [&, wake = bell.wake()](const Finished&, core::Status safe) {
    failed += safe.code == Code::kDestinationUnusable;
    wake();
  });
  batch.Add({0, "s-gone", nullptr, 0, 0});
  for (int i = 0; i < 200 && failed == 0; i++) bell.Wait(std::chrono::milliseconds(50));
  EXPECT_EQ(failed, 1);
  batch.Stop();
  batch.Stop();
}

class DurableTest : public testing::Test {
 protected:
  void SetUp() override {
    test::fs::create_directories(folder_ / "source/d");
    for (int i = 0; i < 300; i++) test::WriteFile(folder_ / ("source/d/" + std::to_string(i)), Content(i * 13));
    for (uint32_t i = 0; i < 3; i++) {
      test::WriteFile(folder_ / ("source/large" + std::to_string(i)), Content(5 * core::kChunkBytes + 7, i));
    }
  }
  void TearDown() override { Observe(false); }
  void Observe(bool on) {
    const std::scoped_lock lock(watch.mutex);
    watch.on = on;
    watch.staging = folder_ / "out/.keibidrop-partial";
    watch.safe.clear();
    watch.unsafe.clear();
    watch.renames = watch.file_syncs = watch.system_syncs = 0;
  }
  test::Folder folder_;
};

TEST_F(DurableTest, GivesNothingItsNameBeforeItIsSafeAndSyncsTheNamesInTheEnd) {
  Observe(true);
  Pair pair(folder_ / "source", folder_ / "out", {.lanes = 2, .durable = true});
  ASSERT_TRUE(pair.Run());
  const std::scoped_lock lock(watch.mutex);
  EXPECT_EQ(watch.renames, 303u);
  EXPECT_EQ(watch.unsafe, std::vector<std::string>());
  EXPECT_TRUE(watch.last_was_system_sync);
  EXPECT_LT(watch.file_syncs + watch.system_syncs, 303u);  // small files share a sync
}

TEST_F(DurableTest, SyncsNothingUnlessAsked) {
  Observe(true);
  Pair pair(folder_ / "source", folder_ / "out");
  ASSERT_TRUE(pair.Run());
  const std::scoped_lock lock(watch.mutex);
  EXPECT_EQ(watch.renames, 303u);
  EXPECT_EQ(watch.file_syncs + watch.system_syncs, 0u);
}

TEST_F(DurableTest, BringsATreeOverByteForByte) {
  Pair pair(folder_ / "source", folder_ / "out", {.lanes = 2, .durable = true});
  ASSERT_TRUE(pair.Run());
  EXPECT_EQ(pair.receiver->progress().files, 303u);
  EXPECT_EQ(pair.receiver->progress().bytes, pair.receiver->progress().placed_bytes);
  pair.receiver->Stop();
  EXPECT_EQ(test::Listing(folder_ / "out/source"), test::Listing(folder_ / "source"));
  EXPECT_FALSE(test::fs::exists(folder_ / "out/.keibidrop-partial"));
}

TEST_F(DurableTest, LeavesWhatWasNotSafeYetToALaterRun) {
  {
    Pair cut(folder_ / "source", folder_ / "out",
             {.send_budget = std::make_shared<net::RateBudget>(10 << 20), .durable = true});
    cut.Open();
    ASSERT_TRUE(cut.RunUntil([&] { return cut.receiver->progress().bytes > 0; }));
  }
  for (const auto& item : test::fs::directory_iterator(folder_ / "out/.keibidrop-partial"))
    EXPECT_FALSE(item.path().filename().string().starts_with("s-")) << item.path();
  Pair again(folder_ / "source", folder_ / "out", {.durable = true});
  ASSERT_TRUE(again.Run());
  EXPECT_TRUE(again.received_problems.empty());
  again.receiver->Stop();
  EXPECT_EQ(test::Listing(folder_ / "out/source"), test::Listing(folder_ / "source"));
}

void OnFileSync(int fd) {
  const std::scoped_lock lock(watch.mutex);
  struct stat status;
  if (!watch.on || fstat(fd, &status) != 0) return;
  watch.safe.insert(status.st_ino);
  watch.file_syncs++;
  watch.last_was_system_sync = false;
}

// A sync makes the files safe that are in staging when it begins.
void OnSystemSync() {
  const std::scoped_lock lock(watch.mutex);
  if (!watch.on) return;
  std::error_code ignored;
  for (test::fs::recursive_directory_iterator at(watch.staging, ignored), end; at != end; at.increment(ignored)) {
    struct stat status;
    if (stat(at->path().c_str(), &status) == 0) watch.safe.insert(status.st_ino);
  }
  watch.system_syncs++;
  watch.last_was_system_sync = true;
}

void OnRename(int directory, const char* from) {
  const std::scoped_lock lock(watch.mutex);
  struct stat status;
  if (!watch.on || fstatat(directory, from, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (std::string_view(from).ends_with(".map")) return;  // a bitmap, which stays in staging
  if (!watch.safe.contains(status.st_ino)) watch.unsafe.push_back(from);
  watch.renames++;
  watch.last_was_system_sync = false;
}

}  // namespace
}  // namespace keibi::receive

extern "C" {
int fdatasync(int fd) {
  keibi::receive::OnFileSync(fd);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}
int syncfs(int fd) noexcept {
  keibi::receive::OnSystemSync();
  return static_cast<int>(syscall(SYS_syncfs, fd));
}
int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) noexcept {
  keibi::receive::OnRename(from_directory, from);
  return static_cast<int>(syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}
}
