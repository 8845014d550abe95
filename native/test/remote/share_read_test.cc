// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "remote/read_pair.h"
#include "share/served_files.h"

namespace keibi::remote {
namespace {

using core::Code;
using std::chrono::milliseconds;
using test::Content;
using test::ReadPair;

TEST(ShareReadTest, ReadsTheBlocksThatAreWantedAndNoOthers) {
  ReadPair pair;
  const std::string content = Content(10 * kCacheBlockBytes + 5);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  EXPECT_EQ(pair.Want(file, 3, 2), Code::kOk);
  EXPECT_EQ(pair.Want(file, 10, 1), Code::kOk);
  std::string expected(content.size(), '\0');
  expected.replace(3 * kCacheBlockBytes, 2 * kCacheBlockBytes, content, 3 * kCacheBlockBytes, 2 * kCacheBlockBytes);
  expected.replace(10 * kCacheBlockBytes, 5, content, 10 * kCacheBlockBytes, 5);
  EXPECT_EQ(pair.Cached(file), expected);
  EXPECT_EQ(pair.Begin(file, 3, 2), 0U) << "what is here is not waited for";
}

TEST(ShareReadTest, ReadsAWholeFileOverSeveralLanesWithMostOfItAhead) {
  ReadPair pair(3);
  const std::string content = Content(40 * core::kChunkBytes + 12345);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  const auto blocks = static_cast<uint32_t>(content.size() / kCacheBlockBytes + 1);
  for (uint32_t at = 0; at < blocks; at++) ASSERT_EQ(pair.Want(file, at, 1, pair.job.ahead_blocks()), Code::kOk);
  EXPECT_TRUE(pair.Cached(file) == content);
  // Each byte was sent once.
  EXPECT_EQ(pair.server->bytes(), content.size());
  EXPECT_EQ(pair.job.lanes().size(), 3U);
}

TEST(ShareReadTest, ReadsManySmallFilesInAnyOrder) {
  ReadPair pair;
  constexpr int kFiles = 1100;  // more than a lane can name
  std::vector<uint32_t> files, wants;
  for (int i = 0; i < kFiles; i++) {
    const std::string name = "file-" + std::to_string(i);
    test::WriteFile(pair.share / name, Content(1 + i % 700, i));
    files.push_back(pair.OpenShared(name));
    wants.push_back(pair.Begin(files.back(), 0, 1));
  }
  for (int i = 0; i < kFiles; i++) {
    ASSERT_EQ(pair.Wait(wants[i]), Code::kOk);
    EXPECT_EQ(pair.Cached(files[i]), Content(1 + i % 700, i));
    pair.job.Release(files[i]);
  }
}

TEST(ShareReadTest, LanesContinueAfterARekey) {
  ReadPair pair(2);
  const std::string content = Content(8 * core::kChunkBytes);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  ASSERT_EQ(pair.Want(file, 0, 64), Code::kOk);
  pair.job.Rekey(1, test::KeyOf(9));
  pair.server->Rekey(1, test::KeyOf(9));
  EXPECT_EQ(pair.Want(file, 64, 64), Code::kOk);
  EXPECT_EQ(pair.Cached(file), content);
  // A reader without the secret cannot follow.
  pair.server->Rekey(2, test::KeyOf(10));
  const uint32_t other = pair.OpenShared("file");
  EXPECT_NE(pair.Begin(other, 0, 1), 0U);
  EXPECT_EQ(pair.LaneEnd(), Code::kFrameReplayed);
}

TEST(ShareReadTest, AnEmptyFileIsHereAtOnce) {
  ReadPair pair;
  test::WriteFile(pair.share / "empty", "");
  EXPECT_EQ(pair.Begin(pair.OpenShared("empty"), 0, 0, 100), 0U);
}

TEST(ShareReadTest, AChangedFileIsReportedAndItsOtherContentDropped) {
  ReadPair pair;
  test::WriteFile(pair.share / "file", Content(4 * kCacheBlockBytes));
  const uint32_t file = pair.OpenShared("file");
  ASSERT_EQ(pair.Want(file, 0, 1), Code::kOk);
  test::SetMtime(pair.share / "file", 12345);
  EXPECT_EQ(pair.Want(file, 1, 1), Code::kSourceChanged);
  EXPECT_EQ(pair.Want(file, 0, 1), Code::kSourceChanged) << "it is known by now";
  EXPECT_EQ(pair.Cached(file).substr(kCacheBlockBytes), std::string(3 * kCacheBlockBytes, '\0'));
  // The current version can be opened and read.
  EXPECT_EQ(pair.Want(pair.OpenShared("file"), 1, 3), Code::kOk);
}

TEST(ShareReadTest, WhatIsOpenAtTheSharingPeerIsReadThoughAnotherFileTookItsName) {
  ReadPair pair;
  const std::string content = Content(4 * kCacheBlockBytes);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  ASSERT_EQ(pair.Want(file, 0, 1), Code::kOk);
  test::WriteFile(pair.share / "other", Content(4 * kCacheBlockBytes, 2));
  test::fs::rename(pair.share / "other", pair.share / "file");
  EXPECT_EQ(pair.Want(file, 1, 3), Code::kOk);
  EXPECT_EQ(pair.Cached(file), content);
}

TEST(ShareReadTest, AFileThatGrowsIsReadAsFarAsItWasNamed) {
  ReadPair pair;
  const std::string content = Content(4 * kCacheBlockBytes + 5);
  test::WriteFile(pair.share / "file", content);
  const uint32_t early = pair.OpenShared("file"), late = pair.OpenShared("file");
  ASSERT_EQ(pair.Want(early, 0, 1), Code::kOk);
  std::ofstream(pair.share / "file", std::ios::app) << "more and more";
  EXPECT_EQ(pair.Want(early, 1, 4), Code::kOk);
  EXPECT_EQ(pair.Cached(early), content);
  // The sharing peer has not opened this one before.
  EXPECT_EQ(pair.Want(late, 0, 5), Code::kOk);
  EXPECT_EQ(pair.Cached(late), content);
}

TEST(ShareReadTest, ALongerFileInItsPlaceIsNoGrownOne) {
  ReadPair pair;
  test::WriteFile(pair.share / "file", Content(4 * kCacheBlockBytes));
  const uint32_t file = pair.OpenShared("file");
  test::WriteFile(pair.share / "other", Content(5 * kCacheBlockBytes, 2));
  test::fs::rename(pair.share / "other", pair.share / "file");
  EXPECT_EQ(pair.Want(file, 0, 1), Code::kSourceChanged);
  test::WriteFile(pair.share / "short", Content(4 * kCacheBlockBytes));
  const uint32_t cut = pair.OpenShared("short");
  ASSERT_EQ(pair.Want(cut, 0, 1), Code::kOk);
  test::fs::resize_file(pair.share / "short", 2 * kCacheBlockBytes);
  EXPECT_EQ(pair.Want(cut, 1, 1), Code::kSourceChanged);
}

TEST(ShareReadTest, NothingOutsideTheSharedFolderIsRead) {
  ReadPair pair;
  test::Folder outside;
  test::WriteFile(outside / "secret", "secret");
  test::fs::create_directories(pair.share / "d/.keibidrop-partial");
  test::WriteFile(pair.share / "d/.keibidrop-partial/part", "secret");
  test::fs::create_symlink(outside / "secret", pair.share / "link");
  test::fs::create_directory_symlink(outside.path(), pair.share / "links");
  test::fs::create_symlink("loop", pair.share / "loop");
  const CacheIdentity identity{6, test::MtimeOf(outside / "secret")};
  const std::string up = "../" + outside.path().filename().string() + "/secret";
  const std::map<std::string, Code> cases = {
      {up, Code::kPathRefused},
      {"d/../../" + outside.path().filename().string() + "/secret", Code::kPathRefused},
      {(outside / "secret").string(), Code::kPathRefused},
      {"", Code::kPathRefused},
      {"d//x", Code::kPathRefused},
      {"./d", Code::kPathRefused},
      {std::string("link\0x", 6), Code::kPathRefused},
      {"d/.keibidrop-partial/part", Code::kPathRefused},
      {"link", Code::kPathRefused},
      {"loop", Code::kPathRefused},
      {"links/secret", Code::kSourceMissing},
      {"gone", Code::kSourceMissing},
      {"d", Code::kSourceChanged},
  };
  for (const auto& [path, code] : cases) {
    EXPECT_EQ(pair.Want(pair.Open(path, identity), 0, 1), code) << path;
  }
}

TEST(ShareReadTest, OfOneFileThatIsSharedNothingBesideItIsRead) {
  ReadPair pair(1, "one");
  test::WriteFile(pair.share / "one", "1");
  test::WriteFile(pair.share / "two", "2");
  EXPECT_EQ(pair.Want(pair.OpenShared("one"), 0, 1), Code::kOk);
  EXPECT_EQ(pair.Want(pair.OpenShared("two"), 0, 1), Code::kSourceMissing);
}

TEST(ShareReadTest, WhatALostSessionOwesComesWithTheNext) {
  ReadPair pair(2);
  const std::string content = Content(24 * core::kChunkBytes);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  const auto blocks = static_cast<uint32_t>(content.size() / kCacheBlockBytes);
  const uint32_t want = pair.Begin(file, 0, blocks);
  pair.job.EndSession();
  EXPECT_LT(pair.server->bytes(), content.size() + 1);
  const uint32_t late = pair.Begin(file, blocks - 1, 1);
  pair.Serve(2);
  ASSERT_TRUE(pair.AddLane(0, 2).ok());
  EXPECT_EQ(pair.Wait(want), Code::kOk);
  EXPECT_EQ(late == 0 ? Code::kOk : pair.Wait(late), Code::kOk);
  EXPECT_TRUE(pair.Cached(file) == content);
}

TEST(ShareReadTest, WhatALostLaneOwesComesByAnother) {
  ReadPair pair(1);
  const std::string content = Content(24 * core::kChunkBytes);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  const uint32_t want = pair.Begin(file, 0, static_cast<uint32_t>(content.size() / kCacheBlockBytes));
  pair.server->Stop();
  EXPECT_EQ(pair.LaneEnd(), Code::kSessionLost);
  pair.listener->Forget({1, 2, 3});
  pair.Serve(1);
  ASSERT_TRUE(pair.AddLane(1).ok());
  EXPECT_EQ(pair.Wait(want), Code::kOk);
  EXPECT_TRUE(pair.Cached(file) == content);
}

TEST(ShareReadTest, WhatIsReleasedIsGivenUpAndCanBeOpenedAgain) {
  ReadPair pair;
  const std::string content = Content(24 * core::kChunkBytes);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  const uint32_t want = pair.Begin(file, 0, 384, 0);
  pair.job.Release(file);
  const Code code = pair.Wait(want);
  EXPECT_TRUE(code == Code::kCancelled || code == Code::kOk);
  EXPECT_EQ(pair.Want(file, 0, 1), Code::kInternal);
  EXPECT_EQ(pair.Want(pair.OpenShared("file"), 383, 1), Code::kOk);
  EXPECT_LT(pair.server->bytes(), content.size());
}

TEST(ShareReadTest, WhatWasAskedForAheadOfAReaderWhoHasJumpedIsGivenUp) {
  const auto budget = std::make_shared<net::RateBudget>(0);
  ReadPair pair(1, "", budget);
  constexpr uint32_t kBlocks = 40 * core::kChunkBytes / kCacheBlockBytes;
  const std::string content = Content(uint64_t{kBlocks} * kCacheBlockBytes);
  test::WriteFile(pair.share / "file", content);
  const uint32_t file = pair.OpenShared("file");
  // The held budget stops the guest's reading, so the other side learns of the jump before it has sent everything.
  budget->Hold(true);
  const uint32_t awaited = pair.Begin(file, kBlocks / 2, 1);
  for (uint32_t at = 0; at < kBlocks; at += 64) pair.Begin(file, at, 0, 64);
  pair.job.LeaveAhead(file);
  budget->Hold(false);
  EXPECT_EQ(pair.Wait(awaited), Code::kOk);
  EXPECT_EQ(pair.Want(file, kBlocks - 1, 1), Code::kOk);
  EXPECT_EQ(pair.Cached(file).substr(content.size() - kCacheBlockBytes),
            content.substr(content.size() - kCacheBlockBytes));
  EXPECT_LT(pair.server->bytes(), content.size() / 2);
  // The file can still be read, and jumped in again, under its old number.
  pair.job.LeaveAhead(file);
  EXPECT_EQ(pair.Want(file, 0, kBlocks), Code::kOk);
  EXPECT_TRUE(pair.Cached(file) == content);
  pair.job.Release(file);
  EXPECT_EQ(pair.Want(file, 0, 1), Code::kInternal);
}

TEST(ShareReadTest, ACancelledWantIsNotReportedAndItsBlocksStillServeOthers) {
  ReadPair pair(0);
  test::WriteFile(pair.share / "file", Content(2 * kCacheBlockBytes));
  const uint32_t file = pair.OpenShared("file");
  const uint32_t given_up = pair.Begin(file, 0, 2), kept = pair.Begin(file, 0, 1);
  pair.job.Cancel(file, given_up);
  ASSERT_TRUE(pair.AddLane(0).ok());
  EXPECT_EQ(pair.Wait(kept), Code::kOk);
  EXPECT_TRUE(pair.job.TakeNews().settled.empty());
}

TEST(ShareReadTest, WantsBehindTheEndAreRefused) {
  ReadPair pair;
  test::WriteFile(pair.share / "file", Content(2 * kCacheBlockBytes));
  const uint32_t file = pair.OpenShared("file");
  EXPECT_EQ(pair.Want(file, 0, 3), Code::kSizeMismatch);
  EXPECT_EQ(pair.Want(file, 3, 0), Code::kSizeMismatch);
  EXPECT_EQ(pair.Want(file, UINT32_MAX, UINT32_MAX), Code::kSizeMismatch);
  EXPECT_EQ(pair.Want(file, 1, 1, UINT32_MAX), Code::kOk);
}

TEST(ShareReadTest, PathsOfAShareAreNamesJoinedBySlashes) {
  for (const char* path : {"a", "a/b", "a/.hidden", "ä/b c"}) EXPECT_TRUE(share::IsSharePath(path)) << path;
  for (const char* path :
       {"", "/", "/a", "a/", "a//b", ".", "a/..", "../a", ".keibidrop-partial", "a/.keibidrop-partial-1"})
    EXPECT_FALSE(share::IsSharePath(path)) << path;
  EXPECT_FALSE(share::IsSharePath(std::string(share::kMaxSharePathBytes + 1, 'a')));
}

TEST(ReadWindowTest, GrowsWithWhatThePathCarriesInARoundTrip) {
  using Clock = ReadWindow::Clock;
  ReadWindow window;
  EXPECT_EQ(window.bytes(), ReadWindow::kLeast);
  // A MiB every 8 ms (125 MiB/s), each 180 ms after its request.
  Clock::time_point now = Clock::now();
  for (int i = 0; i < 100; i++, now += milliseconds(8)) {
    window.Arrived(core::kChunkBytes, now - milliseconds(180), now, core::kChunkBytes);
  }
  EXPECT_GT(window.bytes(), 2 * 0.18 * 125 * core::kChunkBytes);
  EXPECT_LT(window.bytes(), 2 * 0.2 * 125 * core::kChunkBytes + ReadWindow::kLeast);
  window.Restart();
  EXPECT_EQ(window.bytes(), ReadWindow::kLeast);
}

TEST(ReadWindowTest, AReaderThatAsksNowAndThenShowsNoRate) {
  using Clock = ReadWindow::Clock;
  ReadWindow window;
  Clock::time_point now = Clock::now();
  for (int i = 0; i < 100; i++, now += milliseconds(500)) {
    window.Arrived(core::kChunkBytes, now - milliseconds(30), now, /*in_flight=*/0);
  }
  EXPECT_EQ(window.bytes(), ReadWindow::kLeast);
}

TEST(ReadWindowTest, AReaderWithASmallWindowThatRunsDryAgainAndAgainGetsALongerOne) {
  using Clock = ReadWindow::Clock;
  ReadWindow window;
  // 1 GiB/s in bursts of four, with an idle millisecond in between.
  Clock::time_point now = Clock::now();
  for (int burst = 0; burst < 100; burst++, now += milliseconds(1)) {
    for (uint64_t left = 4; left-- > 0; now += milliseconds(1)) {
      window.Arrived(core::kChunkBytes, now - milliseconds(1), now, left * core::kChunkBytes);
    }
  }
  EXPECT_GT(window.bytes(), 2 * ReadWindow::kLeast);
}

}  // namespace
}  // namespace keibi::remote
