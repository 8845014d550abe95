// SPDX-License-Identifier: MPL-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "disk_tree.h"
#include "share/write_ledger.h"

// A guest's puts into files that programs of this computer change at the same time.
namespace keibi::share {
namespace {

using core::Code;
namespace fs = std::filesystem;

class PutBesideWriterTest : public testing::Test {
 protected:
  disk::FileVersion VersionNow() const {
    struct stat now {};
    EXPECT_EQ(stat((share_ / "file").c_str(), &now), 0);
    return {static_cast<uint64_t>(now.st_size), now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
  }
  core::Status Begin(uint64_t keep) { return BeginOn(VersionNow(), keep, 1); }
  core::Status BeginOn(const disk::FileVersion& base, uint64_t keep, uint8_t token) {
    return ledger_.Open({share_.path().string(), ""}, "file", {base, {token}, keep}, &file_);
  }
  core::Status Write(uint64_t offset, const std::string& bytes) {
    return file_->Write(offset, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  core::Status Commit(uint64_t size) {
    std::vector<uint8_t> entry;
    return ledger_.Commit(file_, {{size, ++clock_}, false}, &entry);
  }
  std::string Content() const { return test::ReadFile(share_ / "file"); }
  core::Fd Local(int flags) const { return core::Fd(open((share_ / "file").c_str(), flags)); }

  test::Folder share_;
  WriteLedger ledger_;
  std::shared_ptr<WriteHandle> file_;
  int64_t clock_ = 7;
};

TEST_F(PutBesideWriterTest, WhatIsAppendedBetweenTheCheckAndTheCommitStays) {
  test::WriteFile(share_ / "file", "head and tail");
  const core::Fd local = Local(O_WRONLY | O_APPEND);
  ASSERT_TRUE(Begin(13).ok());
  ASSERT_TRUE(Write(0, "HEAD").ok());
  ASSERT_EQ(write(local.get(), "+line", 5), 5);
  EXPECT_EQ(Commit(13).code, Code::kSourceChanged);
  EXPECT_EQ(Content(), "head and tail+line");
}

TEST_F(PutBesideWriterTest, WhatIsOverwrittenOrReplacedBetweenTheCheckAndTheCommitStays) {
  test::WriteFile(share_ / "file", "before");
  ASSERT_TRUE(Begin(6).ok());
  ASSERT_TRUE(Write(0, "guest's").ok());
  ASSERT_EQ(pwrite(Local(O_WRONLY).get(), "BEFORE", 6, 0), 6);
  EXPECT_EQ(Commit(7).code, Code::kSourceChanged);
  EXPECT_EQ(Content(), "BEFORE");
  ASSERT_TRUE(Begin(6).ok());
  ASSERT_TRUE(Write(0, "guest's").ok());
  test::WriteFile(share_ / "other", "another file");
  fs::rename(share_ / "other", share_ / "file");
  EXPECT_EQ(Commit(7).code, Code::kSourceChanged);
  EXPECT_EQ(Content(), "another file");
  ASSERT_TRUE(Begin(6).ok());
  ASSERT_TRUE(Write(0, "guest's").ok());
  fs::remove(share_ / "file");
  EXPECT_EQ(Commit(7).code, Code::kSourceMissing);
}

TEST_F(PutBesideWriterTest, ChangesWhatTheDraftHasChangedAndCutsOnlyWhatItHasCut) {
  test::WriteFile(share_ / "file", "0123456789");
  ASSERT_TRUE(Begin(10).ok());
  ASSERT_TRUE(Write(2, "ab").ok());
  ASSERT_TRUE(Write(9, "cdef").ok());
  EXPECT_TRUE(Commit(20).ok());
  EXPECT_EQ(Content(), "01ab45678cdef" + std::string(7, '\0'));
  ASSERT_TRUE(Begin(4).ok());
  ASSERT_TRUE(Write(6, "x").ok());
  EXPECT_TRUE(Commit(7).ok());
  EXPECT_EQ(Content(), std::string("01ab\0\0x", 7));
}

// Hits the moment between the last check and the change repeatedly, while a program keeps the file open.
TEST_F(PutBesideWriterTest, NoLineOfAProgramThatAppendsAllTheTimeIsLost) {
  constexpr int kLines = 4000;
  test::WriteFile(share_ / "file", std::string(4096, '-'));
  const core::Fd local = Local(O_WRONLY | O_APPEND);
  std::atomic<bool> ended = false;
  std::thread writer([&] {
    for (int i = 0; i < kLines; i++) {
      const std::string line = "line " + std::to_string(i) + "\n";
      if (write(local.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) break;
      if (i % 8 == 0) std::this_thread::yield();
    }
    ended = true;
  });
  int put = 0;
  for (uint8_t token = 1; !ended; token++) {
    const disk::FileVersion base = VersionNow();
    const uint64_t size = base.size;
    if (!BeginOn(base, size, token).ok()) continue;
    const bool appends = token % 2 == 0;
    ASSERT_TRUE(Write(0, std::string(4096, 'g')).ok());
    if (appends) {
      ASSERT_TRUE(Write(size, "guest\n").ok());
    }
    put += Commit(appends ? size + 6 : size).ok() ? 1 : 0;
  }
  writer.join();
  const std::string content = Content();
  for (int i = 0; i < kLines; i++) ASSERT_NE(content.find("line " + std::to_string(i) + "\n"), std::string::npos) << i;
  RecordProperty("put", put);
}

#ifdef __linux__

TEST_F(PutBesideWriterTest, WaitsForAProgramThatHasLockedTheFile) {
  test::WriteFile(share_ / "file", "before");
  const core::Fd local = Local(O_RDWR);
  struct flock some {};
  some.l_type = F_RDLCK;
  some.l_whence = SEEK_SET;
  some.l_start = 1 << 30;
  some.l_len = 510;
  ASSERT_EQ(fcntl(local.get(), F_OFD_SETLK, &some), 0);
  const core::Status locked = Begin(6);
  EXPECT_EQ(locked.code, Code::kCallFailed);
  EXPECT_EQ(locked.system_error, EBUSY);
  some.l_type = F_UNLCK;
  ASSERT_EQ(fcntl(local.get(), F_OFD_SETLK, &some), 0);
  ASSERT_TRUE(Begin(6).ok());
  ASSERT_TRUE(Write(0, "guest's").ok());
  some.l_type = F_RDLCK;
  ASSERT_EQ(fcntl(local.get(), F_OFD_SETLK, &some), 0);
  EXPECT_EQ(Commit(7).system_error, EBUSY);
  EXPECT_EQ(Content(), "before");
  some.l_type = F_UNLCK;
  ASSERT_EQ(fcntl(local.get(), F_OFD_SETLK, &some), 0);
  ASSERT_TRUE(Begin(6).ok());
  ASSERT_TRUE(Write(0, "guest's").ok());
  EXPECT_TRUE(Commit(7).ok());
  EXPECT_EQ(Content(), "guest's");
}

// The kernel signals the lease holder for each program that opens the file; the signal must not end the process.
TEST_F(PutBesideWriterTest, ProgramsThatOpenTheFileAreNotRefused) {
  test::WriteFile(share_ / "file", std::string(size_t{4} << 20, '-'));
  std::atomic<bool> ended = false;
  std::atomic<int> opened = 0, refused = 0;
  std::thread reader([&] {
    while (!ended) (Local(O_RDONLY).valid() ? opened : refused)++;
  });
  for (int i = 0; i < 50 || opened < 50; i++) {
    ASSERT_TRUE(Begin(size_t{4} << 20).ok());
    ASSERT_TRUE(Write(0, std::string(size_t{1} << 20, 'g')).ok());
    ASSERT_TRUE(Commit(size_t{4} << 20).ok());
  }
  ended = true;
  reader.join();
  EXPECT_EQ(refused, 0);
}

#endif

}  // namespace
}  // namespace keibi::share
