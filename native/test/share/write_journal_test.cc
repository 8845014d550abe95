// SPDX-License-Identifier: MPL-2.0
#include "share/write_journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "disk_tree.h"
#include "share/write_ledger.h"

namespace keibi::share {
namespace {

using core::Code;
namespace fs = std::filesystem;

// A shared file, and processes that write it and are killed.
class WriteJournalTest : public testing::Test {
 protected:
  WriteJournalTest() { test::WriteFile(share_ / "file", "before"); }

  std::string journal() const { return (state_ / "journal").string(); }
  ServedFolder folder() const { return {share_.path().string(), ""}; }
  disk::FileVersion VersionNow() const {
    struct stat now {};
    EXPECT_EQ(stat((share_ / "file").c_str(), &now), 0);
    return {static_cast<uint64_t>(now.st_size), now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
  }
  // Does `work` with the file open, in a process that is killed in the middle of it.
  void InAnother(const PutBase& base,
                 const std::function<bool(WriteLedger*, const std::shared_ptr<WriteHandle>&)>& work) {
    const pid_t child = fork();
    if (child == 0) {
      WriteLedger ledger(WriteJournal::Open(journal()));
      std::shared_ptr<WriteHandle> file;
      const bool done = ledger.Open(folder(), "file", base, &file).ok() && work(&ledger, file);
      kill(getpid(), done ? SIGKILL : SIGTERM);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_EQ(WTERMSIG(how), SIGKILL);
  }
  // Kills the process when a put of this overlay has changed a part of the file.
  void CutOff(const OverlayToken& token, int times = 1) {
    const pid_t child = fork();
    if (child == 0) {
      const auto open_journal = WriteJournal::Open(journal());
      struct stat what {};
      stat((share_ / "file").c_str(), &what);
      open_journal->Begins(token, {what.st_dev, what.st_ino});
      for (int i = 0; i < times; i++) open_journal->Writes(token);
      const core::Fd file(open((share_ / "file").c_str(), O_WRONLY));
      const bool wrote = pwrite(file.get(), "half of it", 10, 0) == 10;
      kill(getpid(), wrote ? SIGKILL : SIGTERM);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_EQ(WTERMSIG(how), SIGKILL);
  }
  // The result of a put by the next process.
  Code OpenNow(const PutBase& base) {
    WriteLedger ledger(WriteJournal::Open(journal()));
    std::shared_ptr<WriteHandle> file;
    return ledger.Open(folder(), "file", base, &file).code;
  }
  static bool Write(const std::shared_ptr<WriteHandle>& file, const std::string& bytes) {
    return file->Write(0, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()).ok();
  }

  test::Folder share_, state_;
};

TEST_F(WriteJournalTest, IsLeftAsItIsIfALaterVersionWroteIt) {
  WriteJournal::Open(journal())->Writes(OverlayToken{});
  std::string records = test::ReadFile(journal());
  const uint64_t unknown = 5;
  records.append(reinterpret_cast<const char*>(&unknown), sizeof unknown).append(48, 'x');
  test::WriteFile(journal(), records);
  EXPECT_EQ(WriteJournal::Open(journal()), nullptr);
  EXPECT_EQ(test::ReadFile(journal()), records);
}

TEST_F(WriteJournalTest, APutCutOffByAKillContinuesWithTheSameToken) {
  const PutBase base{VersionNow(), {1}, 6};
  CutOff({1});
  EXPECT_EQ(test::ReadFile(share_ / "file"), "half of it");
  EXPECT_NE(VersionNow().mtime_ns, base.version->mtime_ns);
  EXPECT_EQ(OpenNow({base.version, {2}, 6}), Code::kSourceChanged);
  EXPECT_EQ(OpenNow(base), Code::kOk);
  // And after one more process that does nothing.
  EXPECT_EQ(OpenNow(base), Code::kOk);
}

TEST_F(WriteJournalTest, WhatIsNotCommittedIsLostWithItsProcess) {
  const PutBase base{VersionNow(), {1}, 6};
  InAnother(base, [](auto*, const auto& file) { return Write(file, "half of it"); });
  EXPECT_EQ(test::ReadFile(share_ / "file"), "before");
  EXPECT_EQ(VersionNow(), *base.version);
}

TEST_F(WriteJournalTest, WhatWasDoneWhenTheAnswerWasLostIsItsOwn) {
  const PutBase base{VersionNow(), {1}, 6};
  InAnother(base, [](auto* ledger, const auto& file) {
    std::vector<uint8_t> entry;
    return Write(file, "all of it") && ledger->Commit(file, {{9, 7}, false}, &entry).ok();
  });
  EXPECT_EQ(VersionNow(), (disk::FileVersion{9, 7}));
  EXPECT_EQ(OpenNow({base.version, {2}, 6}), Code::kSourceChanged);
  EXPECT_EQ(OpenNow(base), Code::kOk);
}

TEST_F(WriteJournalTest, WhatWasEndedIsItsOwnOnlyAsItWasLeft) {
  const PutBase base{VersionNow(), {1}, 6};
  InAnother(base, [&](auto* ledger, const auto& file) {
    std::vector<uint8_t> entry;
    if (!Write(file, "all of it") || !ledger->Commit(file, {{9, 7}, false}, &entry).ok()) return false;
    test::WriteFile(share_ / "file", "another's, at once");
    return true;
  });
  EXPECT_EQ(OpenNow(base), Code::kSourceChanged);
}

TEST_F(WriteJournalTest, APutCutOffByAKillFailsIfAnotherProgramHasChangedTheFile) {
  const PutBase base{VersionNow(), {1}, 6};
  CutOff({1});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  test::WriteFile(share_ / "file", "another's");
  EXPECT_EQ(OpenNow(base), Code::kSourceChanged);
  // A file that took its place is not accepted either.
  test::WriteFile(share_ / "new", "another's");
  fs::last_write_time(share_ / "new", fs::last_write_time(share_ / "file"));
  fs::rename(share_ / "new", share_ / "file");
  EXPECT_EQ(OpenNow(base), Code::kSourceChanged);
}

TEST_F(WriteJournalTest, IsOfOneProcessAndStaysShort) {
  CutOff({1}, 200'000);
  EXPECT_LT(fs::file_size(journal()), 4U << 20);
  const auto first = WriteJournal::Open(journal());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(WriteJournal::Open(journal()), nullptr);
  EXPECT_LT(fs::file_size(journal()), 1000U);
  struct stat now {};
  ASSERT_EQ(stat((share_ / "file").c_str(), &now), 0);
  EXPECT_TRUE(first->Knows({1}, {now.st_dev, now.st_ino}, VersionNow()));
}

TEST_F(WriteJournalTest, WhatIsNoJournalIsAnEmptyOne) {
  const PutBase base{VersionNow(), {1}, 6};
  test::WriteFile(journal(), std::string(1000, 'x'));
  EXPECT_EQ(OpenNow(base), Code::kOk);
  EXPECT_EQ(OpenNow({disk::FileVersion{6, 5}, {3}, 6}), Code::kSourceChanged);
  EXPECT_EQ(WriteJournal::Open(share_.path().string()), nullptr);
}

}  // namespace
}  // namespace keibi::share
