// SPDX-License-Identifier: MPL-2.0
#include "receive/part_file.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <thread>

#include "disk_tree.h"
#include "manifest/bitmap.h"

// Resume (PROTOCOL 7): what is trusted from an earlier run, and what never is.
namespace keibi::receive {
namespace {

using core::Code;
using Found = PartFile::Found;
using Written = PartFile::Written;
constexpr uint64_t kPartBytes = 3 * core::kChunkBytes + 5;

class PartTest : public testing::Test {
 protected:
  void SetUp() override {
    destination_ = core::Fd(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(staging_.Open(destination_.get()).ok());
  }
  void TearDown() override { staging_.Close(); }

  static const uint8_t* Data(const std::string& content, uint32_t chunk) {
    return reinterpret_cast<const uint8_t*>(content.data()) + chunk * core::kChunkBytes;
  }
  static size_t Bytes(uint32_t chunk) { return chunk == 3 ? 5 : core::kChunkBytes; }
  Written Put(PartFile* part, uint32_t chunk) {
    Written written;
    EXPECT_TRUE(part->Write(chunk, Data(content_, chunk), Bytes(chunk), &written).ok());
    return written;
  }
  // Leaves the part of an earlier run that got chunks 0 and 3.
  void LeaveAPart(bool sync) {
    PartFile part(staging_, identity_);
    Put(&part, 0);
    Put(&part, 3);
    ASSERT_TRUE(part.Save(sync).ok());
  }
  test::fs::path Only(const std::string& extension) const {
    for (const auto& item : test::fs::directory_iterator(folder_ / ".keibidrop-partial")) {
      if (item.path().extension() == extension) return item.path();
    }
    return {};
  }

  const std::string content_ = test::Content(kPartBytes);
  const PartIdentity identity_{"a/b", {kPartBytes, -7}, false};
  test::Folder folder_;
  core::Fd destination_;
  Staging staging_;
};

TEST(Bitmap, CountsWhatItHoldsAndIgnoresPadding) {
  const uint8_t bytes[] = {0xFF, 0xFF};
  const manifest::Bitmap all(9, bytes);
  EXPECT_TRUE(all.complete());
  EXPECT_EQ(all.held(), 9u);
  manifest::Bitmap some(9);
  EXPECT_TRUE(some.Set(8));
  EXPECT_FALSE(some.Set(8));
  EXPECT_EQ(some.bytes(), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(some.NextMissing(0), 0u);
  EXPECT_EQ(some.NextMissing(8), 9u);
  EXPECT_TRUE(manifest::Bitmap(0).complete());
}

TEST(Bitmap, CountsTheChunksOfTheLongestFileWithoutOverflow) {
  EXPECT_EQ(manifest::ChunksOf(manifest::kMaxChunkedBytes), UINT32_MAX);
  EXPECT_EQ(manifest::ChunksOf(0), 0u);
  EXPECT_EQ(manifest::ChunksOf(1), 1u);
  EXPECT_EQ(manifest::ChunksOf(core::kChunkBytes + 1), 2u);
}

TEST_F(PartTest, TellsTheLastChunkOnceAndIgnoresRepeatedOnes) {
  PartFile part(staging_, identity_);
  EXPECT_EQ(Put(&part, 3), Written::kNew);
  EXPECT_EQ(Put(&part, 3), Written::kIgnored);
  EXPECT_EQ(Put(&part, 0), Written::kNew);
  EXPECT_EQ(Put(&part, 2), Written::kNew);
  EXPECT_EQ(Put(&part, 1), Written::kLast);
  EXPECT_EQ(Put(&part, 1), Written::kIgnored);
  ASSERT_TRUE(part.Complete(0444).ok());
  EXPECT_EQ(test::ReadFile(Only(".data")), content_);
  EXPECT_EQ(test::ModeOf(Only(".data")), 0444u);
  EXPECT_EQ(test::MtimeOf(Only(".data")), -7);
  EXPECT_EQ(Put(&part, 1), Written::kIgnored);
}

// If a length reached the disk before the bytes, a power cut would leave what looks like a whole file.
TEST_F(PartTest, IsNeverLongerThanWhatWasWritten) {
  PartFile part(staging_, identity_);
  Put(&part, 0);
  EXPECT_EQ(test::fs::file_size(Only(".data")), core::kChunkBytes);
  Put(&part, 2);
  EXPECT_EQ(test::fs::file_size(Only(".data")), 3 * core::kChunkBytes);
  ASSERT_TRUE(part.Save(false).ok());
  Put(&part, 3);  // longer than the map says: written after the map was saved
  PartFile again(staging_, identity_);
  EXPECT_EQ(again.Load(), Found::kRest);
  EXPECT_EQ(again.held().bytes(), std::vector<uint8_t>{0b0101});
}

TEST_F(PartTest, IsCompletedByOneOfManyThreads) {
  for (int round = 0; round < 20; round++) {
    PartFile part(staging_, {"round " + std::to_string(round), kPartBytes, 0, false});
    std::atomic<int> last = 0;
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < 4; thread++) {
      threads.emplace_back([&, thread] {
        for (uint32_t i = 0; i < 4; i++) last += Put(&part, (thread + i) % 4) == Written::kLast;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(last, 1);
    part.Discard();
  }
}

TEST_F(PartTest, TakesNothingMoreOnceDiscarded) {
  PartFile part(staging_, identity_);
  Put(&part, 0);
  part.Discard();
  EXPECT_EQ(Put(&part, 1), Written::kIgnored);
  EXPECT_TRUE(part.Save(true).ok());
  EXPECT_EQ(part.Complete(0644).code, Code::kCancelled);
  EXPECT_EQ(Only(".data"), "");
  EXPECT_EQ(Only(".map"), "");
}

TEST_F(PartTest, IsFoundAgainWithTheChunksThatWereSaved) {
  for (const bool sync : {false, true}) {
    LeaveAPart(sync);
    PartFile part(staging_, identity_);
    ASSERT_EQ(part.Load(), Found::kRest);
    EXPECT_EQ(part.held().bytes(), std::vector<uint8_t>{0b1001});
    EXPECT_EQ(Put(&part, 1), Written::kNew);
    EXPECT_EQ(Put(&part, 2), Written::kLast);
    ASSERT_TRUE(part.Complete(0600).ok());
    EXPECT_EQ(test::ReadFile(Only(".data")), content_);
    part.Forget();
  }
}

TEST_F(PartTest, IsOfNoUseForOtherContentAndGoes) {
  for (const PartIdentity& other :
       {PartIdentity{"a/b", {kPartBytes + 1, -7}, false}, PartIdentity{"a/b", {kPartBytes, -8}, false}}) {
    LeaveAPart(true);
    PartFile part(staging_, other);
    EXPECT_EQ(part.Load(), Found::kOther);
    EXPECT_EQ(part.held().held(), 0u);
    EXPECT_EQ(Only(".map"), "");
    EXPECT_EQ(Only(".data"), "");
  }
  LeaveAPart(true);
  PartFile elsewhere(staging_, {"a/c", kPartBytes, -7, false});
  EXPECT_EQ(elsewhere.Load(), Found::kNothing);
  EXPECT_NE(Only(".map"), "");
}

TEST_F(PartTest, IsNotBelievedWithAnyByteOfItsMapChanged) {
  LeaveAPart(true);
  const auto map_path = Only(".map"), data_path = Only(".data");
  const std::string map = test::ReadFile(map_path), data = test::ReadFile(data_path);
  ASSERT_EQ(map.size(), 52u + 1 + 32);
  for (size_t at = 0; at < map.size(); at++) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = map;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      test::WriteFile(map_path, changed);
      test::WriteFile(data_path, data.substr(0, 1));
      test::fs::resize_file(data_path, kPartBytes);
      PartFile part(staging_, identity_);
      EXPECT_EQ(part.Load(), Found::kNothing) << at;
      EXPECT_FALSE(test::fs::exists(data_path));
    }
  }
}

// As the next version would write it: with its own number, and a correct digest.
TEST_F(PartTest, IsLeftAsItIsIfALaterVersionWroteIt) {
  LeaveAPart(true);
  const auto map_path = Only(".map"), data_path = Only(".data");
  std::string map = test::ReadFile(map_path);
  map[4]++;
  uint8_t sum[32];
  EVP_Digest(map.data(), map.size() - sizeof sum, sum, nullptr, EVP_sha256(), nullptr);
  map.replace(map.size() - sizeof sum, sizeof sum, reinterpret_cast<const char*>(sum), sizeof sum);
  test::WriteFile(map_path, map);
  const std::string data = test::ReadFile(data_path);
  EXPECT_EQ(PartFile(staging_, identity_).Load(), Found::kNewer);
  EXPECT_EQ(test::ReadFile(map_path), map);
  EXPECT_EQ(test::ReadFile(data_path), data);
}

TEST_F(PartTest, IsNotBelievedWithAMapOfAnotherLength) {
  LeaveAPart(true);
  const auto map_path = Only(".map");
  const std::string map = test::ReadFile(map_path);
  for (const std::string& changed : {std::string(), map.substr(0, 75), map.substr(0, map.size() - 1), map + '\0'}) {
    LeaveAPart(true);
    test::WriteFile(map_path, changed);
    PartFile part(staging_, identity_);
    EXPECT_EQ(part.Load(), Found::kNothing);
  }
}

TEST_F(PartTest, IsNotBelievedWithoutItsDataOrWithDataTooShortOrTooLong) {
  LeaveAPart(true);
  test::fs::remove(Only(".data"));
  EXPECT_EQ(PartFile(staging_, identity_).Load(), Found::kNothing);
  LeaveAPart(true);
  test::fs::resize_file(Only(".data"), kPartBytes - 1);
  EXPECT_EQ(PartFile(staging_, identity_).Load(), Found::kNothing);
  LeaveAPart(true);
  test::fs::resize_file(Only(".data"), kPartBytes + 1);
  EXPECT_EQ(PartFile(staging_, identity_).Load(), Found::kNothing);
  LeaveAPart(true);
  const auto data = Only(".data");
  test::fs::rename(data, folder_ / "elsewhere");
  test::fs::create_symlink(folder_ / "elsewhere", data);
  EXPECT_EQ(PartFile(staging_, identity_).Load(), Found::kNothing);
}

// The map of another boot, `synced` or not, with its checksum corrected.
TEST_F(PartTest, IsBelievedAfterARestartOfTheMachineOnlyIfItWasSynced) {
  for (const bool sync : {false, true}) {
    LeaveAPart(sync);
    const auto path = Only(".map");
    std::string map = test::ReadFile(path);
    EXPECT_EQ(map[5], sync ? 1 : 0);
    map[30] = static_cast<char>(map[30] ^ 1);
    const auto* const body = reinterpret_cast<const uint8_t*>(map.data());
    EVP_Digest(body, map.size() - 32, reinterpret_cast<uint8_t*>(map.data()) + map.size() - 32, nullptr, EVP_sha256(),
               nullptr);
    test::WriteFile(path, map);
    EXPECT_EQ(PartFile(staging_, identity_).Load(), sync ? Found::kRest : Found::kNothing);
  }
}

TEST_F(PartTest, RefusesAFileThatTheDiskHasNoRoomForBeforeItTakesMemory) {
  PartFile part(staging_, {"huge", manifest::kMaxChunkedBytes, 0, false});
  Written written;
  EXPECT_EQ(part.Write(UINT32_MAX - 2, Data(content_, 0), core::kChunkBytes, &written).code, Code::kDiskFull);
  EXPECT_EQ(part.held().bytes().capacity(), 0u);
}

TEST_F(PartTest, StagingIsAnotherFolderForASecondJobAtOnce) {
  Staging second, third;
  ASSERT_TRUE(second.Open(destination_.get()).ok());
  ASSERT_TRUE(third.Open(destination_.get()).ok());
  EXPECT_TRUE(test::fs::exists(folder_ / ".keibidrop-partial-2"));
  EXPECT_TRUE(test::fs::exists(folder_ / ".keibidrop-partial-3"));
  second.Close();
  third.Close();
  staging_.Close();
  EXPECT_TRUE(test::fs::is_empty(folder_.path()));
}

TEST_F(PartTest, StagingStaysWhileAPartIsLeftAndIsTakenAgain) {
  LeaveAPart(true);
  staging_.Close();
  EXPECT_NE(Only(".map"), "");
  test::WriteFile(folder_ / ".keibidrop-partial/s-77", "unfinished");
  test::WriteFile(folder_ / ".keibidrop-partial/0123.data", "of no map");
  Staging again;
  ASSERT_TRUE(again.Open(destination_.get()).ok());
  EXPECT_TRUE(again.had_parts());
  EXPECT_FALSE(test::fs::exists(folder_ / ".keibidrop-partial/s-77"));
  EXPECT_FALSE(test::fs::exists(folder_ / ".keibidrop-partial/0123.data"));
  PartFile part(again, identity_);
  EXPECT_EQ(part.Load(), Found::kRest);
  part.Discard();
  again.Close();
  EXPECT_TRUE(test::fs::is_empty(folder_.path()));
}

TEST_F(PartTest, StagingDropsTheSmallFilesOfEveryThreadOfAKilledRun) {
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (uint32_t thread = 0; thread < 3; thread++) {
    threads.emplace_back([&, thread] {
      core::Fd fd;
      for (uint32_t file = 0; file < 2; file++) {
        if (staging_.Create(Staging::SmallFileName(2 * thread + file), 0600, &fd).ok()) made++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 6);
  const test::Folder copy;  // the state after a kill -9
  const test::fs::path left = copy / ".keibidrop-partial";
  test::fs::copy(folder_ / ".keibidrop-partial", left, test::fs::copy_options::recursive);
  const core::Fd folder(open(copy.path().c_str(), O_RDONLY | O_DIRECTORY));
  Staging later;
  ASSERT_TRUE(later.Open(folder.get()).ok());
  EXPECT_EQ(std::distance(test::fs::directory_iterator(left), {}), 1) << "more than the lock";
  later.Close();
  EXPECT_TRUE(test::fs::is_empty(copy.path()));
}

TEST_F(PartTest, StagingNeverFollowsASymlinkThatStandsInItsPlace) {
  staging_.Close();
  test::Folder elsewhere;
  test::fs::create_directory_symlink(elsewhere.path(), folder_ / ".keibidrop-partial");
  Staging again;
  EXPECT_EQ(again.Open(destination_.get()).code, Code::kDestinationUnusable);
  EXPECT_TRUE(test::fs::is_empty(elsewhere.path()));
}

TEST_F(PartTest, StagingIsSharedByNoTwoOfManyThatComeAndGoAtOnce) {
  staging_.Close();
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int thread = 0; thread < 4; thread++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; round++) {
        Staging staging;
        core::Fd fd;
        if (!staging.Open(destination_.get()).ok() || !staging.Create("s-mine", 0600, &fd).ok()) failures++;
        staging.Remove("s-mine");
        staging.Close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace keibi::receive
