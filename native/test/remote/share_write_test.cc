// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "disk/byte_range.h"
#include "remote/write_pair.h"
#include "share/folder_writes.h"

namespace keibi::remote {
namespace {

namespace fs = std::filesystem;

using core::Code;
using test::Content;
using test::OverlayTokenOf;
using test::WritePair;

TEST(ShareWriteTest, WritesRangesOverSeveralLanesAndNothingElse) {
  WritePair pair(3);
  const std::string overlay = Content(20 * core::kChunkBytes + 77);
  test::WriteFile(pair.share / "file", std::string(overlay.size(), '.'));
  const uint32_t handle = pair.Open("file", 1, overlay.size());
  const uint64_t last = overlay.size() - 5;
  const uint32_t put =
      pair.Begin(handle, overlay, {{3, 10 * core::kChunkBytes}, {12 * core::kChunkBytes, 1}, {last, 5}});
  EXPECT_EQ(pair.Wait(put).code, Code::kOk);
  std::string expected(overlay.size(), '.');
  for (const auto& [at, length] :
       std::vector<disk::ByteRange>{{3, 10 * core::kChunkBytes}, {12 * core::kChunkBytes, 1}, {last, 5}})
    expected.replace(at, length, overlay, at, length);
  EXPECT_TRUE(pair.Commit(handle, overlay.size()).ok());
  EXPECT_TRUE(test::ReadFile(pair.share / "file") == expected);
  EXPECT_EQ(test::MtimeOf(pair.share / "file"), 7);
}

TEST(ShareWriteTest, PutsTakeTurnsSoThatAShortOneIsNotHeldUp) {
  WritePair pair;
  test::WriteFile(pair.share / "long", "");
  test::WriteFile(pair.share / "short", "");
  const uint32_t slow = pair.Begin(pair.Open("long", 1), Content(64 * core::kChunkBytes));
  const uint32_t quick = pair.Begin(pair.Open("short", 2), "short");
  EXPECT_EQ(pair.Wait(quick).code, Code::kOk);
  EXPECT_FALSE(pair.IsSettled(slow));
  EXPECT_TRUE(pair.Commit(2, 5).ok());
  EXPECT_EQ(test::ReadFile(pair.share / "short"), "short");
  EXPECT_EQ(pair.Wait(slow).code, Code::kOk);
}

TEST(ShareWriteTest, AHandleThatIsClosedWritesNothingAnyMore) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "before");
  const uint32_t first = pair.Open("file");
  const uint32_t second = pair.Open("file");  // of the same overlay
  EXPECT_EQ(pair.Wait(pair.Begin(first, "late")).code, Code::kCancelled);
  EXPECT_EQ(pair.Commit(first, 4).code, Code::kCancelled);
  EXPECT_EQ(test::ReadFile(pair.share / "file"), "before");
  EXPECT_EQ(pair.Wait(pair.Begin(second, "right")).code, Code::kOk);
  EXPECT_TRUE(pair.Commit(second, 5).ok());
  EXPECT_EQ(pair.Wait(pair.Begin(second, "again")).code, Code::kCancelled);
  EXPECT_EQ(pair.Wait(pair.Begin(99, "nobody's")).code, Code::kCancelled);
  EXPECT_EQ(test::ReadFile(pair.share / "file"), "right");
}

TEST(ShareWriteTest, OneDraftWritesAFileAtATime) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "before");
  fs::create_hard_link(pair.share / "file", pair.share / "same");
  const uint32_t handle = pair.Open("file", 1, 6);
  uint32_t other = 0;
  for (const char* path : {"file", "same"}) {
    const core::Status status = pair.server->written()->Open(path, {{}, OverlayTokenOf(2), 0}, &other);
    EXPECT_EQ(status.code, Code::kCallFailed);
    EXPECT_EQ(status.system_error, EBUSY);
  }
  EXPECT_EQ(test::ReadFile(pair.share / "file"), "before");
  pair.server->written()->Close(handle);
  EXPECT_TRUE(pair.server->written()->Open("file", {{}, OverlayTokenOf(2), 0}, &other).ok());
}

TEST(ShareWriteTest, KnowsWhatADraftHasLeftInASessionThatIsOver) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "before");
  const disk::FileVersion base{6, test::MtimeOf(pair.share / "file")};
  uint32_t handle = 0;
  ASSERT_TRUE(pair.server->written()->Open("file", {base, OverlayTokenOf(1), 0}, &handle).ok());
  EXPECT_EQ(pair.Wait(pair.Begin(handle, "done")).code, Code::kOk);
  EXPECT_TRUE(pair.Commit(handle, 4).ok());  // its answer is lost with the session
  pair.job.EndSession();
  pair.server->Stop();
  EXPECT_EQ(pair.server->written()->Open("file", {base, OverlayTokenOf(1), 0}, &handle).code, Code::kCancelled);
  const auto next = pair.Serve(2);
  EXPECT_EQ(next->written()->Open("file", {base, OverlayTokenOf(2), 0}, &handle).code, Code::kSourceChanged);
  EXPECT_TRUE(next->written()->Open("file", {base, OverlayTokenOf(1), 4}, &handle).ok());
  EXPECT_EQ(test::ReadFile(pair.share / "file"), "done");
}

TEST(ShareWriteTest, HasSoManyFilesOpen) {
  WritePair pair;
  uint32_t handle = 0;
  for (size_t i = 0; i <= share::WriteHandles::kMostOpen; i++) {
    const std::string name = "file-" + std::to_string(i);
    test::WriteFile(pair.share / name, "");
    share::OverlayToken token{static_cast<uint8_t>(i), static_cast<uint8_t>(i >> 8), 1};
    const core::Status status = pair.server->written()->Open(name, {{}, token, 0}, &handle);
    EXPECT_EQ(status.code, i < share::WriteHandles::kMostOpen ? Code::kOk : Code::kLimitExceeded);
  }
}

TEST(ShareWriteTest, WhatALostLaneOwesGoesByAnother) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "");
  const std::string overlay = Content(32 * core::kChunkBytes);
  const uint32_t handle = pair.Open("file"), put = pair.Begin(handle, overlay);
  while (pair.job.bytes() == 0) std::this_thread::yield();
  pair.job.CutSilent(std::chrono::milliseconds(-1000));  // every lane that owes an answer
  EXPECT_EQ(pair.LaneEnd(), Code::kSessionLost);
  EXPECT_TRUE(pair.AddLane(1).ok());
  EXPECT_EQ(pair.Wait(put).code, Code::kOk);
  EXPECT_TRUE(pair.Commit(handle, overlay.size()).ok());
  EXPECT_TRUE(test::ReadFile(pair.share / "file") == overlay);
}

TEST(ShareWriteTest, ASessionThatEndsEndsItsPuts) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "");
  const uint32_t session = pair.job.session();
  const uint32_t put = pair.Begin(pair.Open("file"), Content(64 * core::kChunkBytes));
  pair.job.EndSession();
  EXPECT_EQ(pair.Wait(put).code, Code::kSessionLost);
  test::WriteFile(pair.overlays / "key.data", "x");
  EXPECT_EQ(pair.job.Begin(99, session, 1, pair.overlays.path().string(), "key", {{0, 1}}).code, Code::kSessionLost);
}

TEST(ShareWriteTest, ACancelledPutIsNotReportedAndOthersContinue) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "");
  test::WriteFile(pair.share / "other", "");
  const uint32_t put = pair.Begin(pair.Open("file", 1), Content(40 * core::kChunkBytes));
  pair.job.Cancel(put);
  const uint32_t other = pair.Begin(pair.Open("other", 2), Content(3 * core::kChunkBytes));
  EXPECT_EQ(pair.Wait(other).code, Code::kOk);
  EXPECT_FALSE(pair.IsSettled(put));
  EXPECT_LT(fs::file_size(pair.share / "file"), 40 * core::kChunkBytes);
}

TEST(ShareWriteTest, ADraftThatIsShorterThanItsRangesFailsItsPutAlone) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "");
  const uint32_t handle = pair.Open("file");
  EXPECT_EQ(pair.Wait(pair.Begin(handle, "short", {{0, 5}, {6, 1}})).code, Code::kSizeMismatch);
  EXPECT_EQ(pair.Wait(pair.Begin(handle, "right")).code, Code::kOk);
}

TEST(ShareWriteTest, LanesContinueAfterARekey) {
  WritePair pair;
  test::WriteFile(pair.share / "file", "");
  const uint32_t handle = pair.Open("file");
  ASSERT_EQ(pair.Wait(pair.Begin(handle, "one")).code, Code::kOk);
  pair.job.Rekey(1, test::KeyOf(9));
  pair.server->Rekey(1, test::KeyOf(9));
  EXPECT_EQ(pair.Wait(pair.Begin(handle, "two")).code, Code::kOk);
  pair.job.RekeyReady(1);
  EXPECT_EQ(pair.Wait(pair.Begin(handle, "three")).code, Code::kOk);
  // A reader without the secret cannot follow.
  pair.job.Rekey(2, test::KeyOf(10));
  pair.job.RekeyReady(2);
  pair.Begin(handle, "four");
  EXPECT_EQ(pair.LaneEnd(), Code::kSessionLost);
  EXPECT_TRUE(pair.Commit(handle, 5).ok());
  EXPECT_EQ(test::ReadFile(pair.share / "file"), "three");
}

// Only a user other than root meets this case.
TEST(ShareWriteTest, WritesItsOwnFileWithoutWritePermission) {
  test::Folder share;
  fs::permissions(share.path(), fs::perms::all);
  const pid_t child = fork();
  if (child == 0) {
    const bool dropped = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    test::WriteFile(share / "file", "before");
    fs::permissions(share / "file", fs::perms::owner_read);
    share::WriteLedger ledger;
    std::shared_ptr<share::WriteHandle> file;
    const bool opened = ledger.Open({share.path().string(), ""}, "file", {{}, OverlayTokenOf(1), 0}, &file).ok();
    const bool wrote = opened && file->Write(0, reinterpret_cast<const uint8_t*>("after!"), 6).ok();
    std::vector<uint8_t> entry;
    const bool put = wrote && ledger.Commit(file, {{6, 7}, false}, &entry).ok();
    const bool shut = fs::status(share / "file").permissions() == fs::perms::owner_read;
    _exit(!dropped ? 2 : !opened ? 3 : !put ? 4 : !shut ? 5 : test::ReadFile(share / "file") != "after!" ? 6 : 0);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_EQ(how, 0) << "exit " << WEXITSTATUS(how);
}

}  // namespace
}  // namespace keibi::remote
