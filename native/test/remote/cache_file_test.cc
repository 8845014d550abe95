// SPDX-License-Identifier: MPL-2.0
#include "remote/cache_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "disk_tree.h"

namespace keibi::remote {
namespace {

using core::Code;

constexpr size_t kBlockBytes = kCacheBlockBytes;
constexpr size_t kEnough = 5;                     // events of each kind that must be seen together
constexpr std::chrono::microseconds kPause{200};  // in which a reader gets its turn

class CacheFileTest : public testing::Test {
 protected:
  CacheFileTest() : directory_(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY)) {}

  std::shared_ptr<CacheFile> Open(uint64_t size, int64_t mtime_ns = 7) {
    std::shared_ptr<CacheFile> file;
    EXPECT_TRUE(CacheFile::Open(directory_.get(), "key", {size, mtime_ns}, &file).ok());
    return file;
  }
  static core::Status Write(CacheFile& file, uint32_t first, const std::string& bytes) {
    return file.Write(first, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  // Empty if some of it is missing.
  static std::string Read(const CacheFile& file, uint64_t offset, size_t length) {
    std::string bytes(length, '\0');
    core::Status status;
    const bool here = file.Read(offset, reinterpret_cast<uint8_t*>(bytes.data()), length, &status);
    EXPECT_TRUE(status.ok());
    return here ? bytes : "";
  }

  test::Folder folder_;
  core::Fd directory_;
};

TEST_F(CacheFileTest, ReadsWhatWasWrittenAndNothingElse) {
  const std::string content = test::Content(5 * kBlockBytes + 9);
  const auto file = Open(content.size());
  EXPECT_EQ(file->blocks(), 6U);
  EXPECT_EQ(Read(*file, 0, 1), "");
  ASSERT_TRUE(Write(*file, 1, content.substr(kBlockBytes, 2 * kBlockBytes)).ok());
  ASSERT_TRUE(Write(*file, 5, content.substr(5 * kBlockBytes)).ok());
  EXPECT_EQ(Read(*file, kBlockBytes, 2 * kBlockBytes), content.substr(kBlockBytes, 2 * kBlockBytes));
  EXPECT_EQ(Read(*file, kBlockBytes + 5, 10), content.substr(kBlockBytes + 5, 10));
  EXPECT_EQ(Read(*file, 5 * kBlockBytes, 9), content.substr(5 * kBlockBytes));
  EXPECT_EQ(Read(*file, kBlockBytes, 2 * kBlockBytes + 1), "");
  EXPECT_EQ(Read(*file, 0, kBlockBytes + 1), "");
  EXPECT_EQ(file->FirstMissing(0, 6), 0U);
  EXPECT_EQ(file->FirstMissing(1, 5), 3U);
  EXPECT_EQ(file->FirstMissing(5, 1), 6U);
}

TEST_F(CacheFileTest, FindsWhatIsMissingAcrossTheWordsOfTheMap) {
  const auto file = Open(200 * kBlockBytes);
  const std::string block(kBlockBytes, 'x');
  for (uint32_t i = 0; i < 200; i++) {
    if (i == 130) continue;
    ASSERT_TRUE(Write(*file, i, block).ok());
  }
  for (uint32_t first : {0U, 1U, 63U, 64U, 127U, 128U, 129U, 130U}) {
    EXPECT_EQ(file->FirstMissing(first, 200 - first), 130U);
    EXPECT_TRUE(file->HasAll(first, 130 - first));
  }
  EXPECT_EQ(file->FirstMissing(131, 69), 200U);
  const auto other = Open(200 * kBlockBytes, 8);
  ASSERT_TRUE(Write(*other, 60, std::string(80 * kBlockBytes, 'y')).ok());
  EXPECT_EQ(other->FirstMissing(60, 140), 140U);
  EXPECT_FALSE(other->Has(59));
  EXPECT_FALSE(other->Has(140));
}

TEST_F(CacheFileTest, TakesOnlyWholeBlocksAndTheEnd) {
  const auto file = Open(2 * kBlockBytes + 5);
  EXPECT_EQ(Write(*file, 0, "short").code, Code::kSizeMismatch);
  EXPECT_EQ(Write(*file, 0, std::string(kBlockBytes + 1, 'x')).code, Code::kSizeMismatch);
  EXPECT_EQ(Write(*file, 2, std::string(6, 'x')).code, Code::kSizeMismatch);
  EXPECT_EQ(Write(*file, 3, std::string(1, 'x')).code, Code::kSizeMismatch);
  EXPECT_EQ(Write(*file, UINT32_MAX, std::string(kBlockBytes, 'x')).code, Code::kSizeMismatch);
  EXPECT_EQ(Write(*file, 0, "").code, Code::kSizeMismatch);
  EXPECT_TRUE(Write(*file, 0, std::string(2 * kBlockBytes + 5, 'x')).ok());
  EXPECT_TRUE(file->HasAll(0, 3));
}

TEST_F(CacheFileTest, IsSharedByAllWhoOpenItAndKeptUntilAnotherContentTakesItsName) {
  const auto one = Open(kBlockBytes);
  const auto other = Open(kBlockBytes);
  ASSERT_TRUE(Write(*one, 0, std::string(kBlockBytes, 'a')).ok());
  EXPECT_TRUE(other->Has(0));
  EXPECT_EQ(Read(*other, 0, 3), "aaa");
  EXPECT_TRUE(Open(kBlockBytes)->Has(0));
  EXPECT_FALSE(Open(kBlockBytes, 8)->Has(0));
  EXPECT_FALSE(Open(kBlockBytes + 1)->Has(0));
}

TEST_F(CacheFileTest, AnEmptyFileHasNothingToMiss) {
  const auto file = Open(0);
  EXPECT_EQ(file->blocks(), 0U);
  EXPECT_TRUE(file->HasAll(0, 0));
}

TEST_F(CacheFileTest, AFileThatIsTooLongIsRefused) {
  std::shared_ptr<CacheFile> file;
  const core::Status status = CacheFile::Open(directory_.get(), "key", {UINT64_MAX, 0}, &file);
  EXPECT_EQ(status.code, Code::kLimitExceeded);
}

TEST_F(CacheFileTest, GivesRoomBackToTheDisk) {
  const auto file = Open(8 * kBlockBytes);
  ASSERT_TRUE(Write(*file, 0, test::Content(8 * kBlockBytes)).ok());
  struct stat before, after;
  ASSERT_EQ(fstat(file->data_fd(), &before), 0);
  EXPECT_TRUE(file->Evict(2, 5));
  ASSERT_EQ(fstat(file->data_fd(), &after), 0);
  EXPECT_LE(after.st_blocks, before.st_blocks - static_cast<blkcnt_t>(5 * kBlockBytes / 512));
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_EQ(file->FirstMissing(0, 8), 2U);
  EXPECT_TRUE(file->HasAll(7, 1));
}

// One thread reads while another evicts and fetches again: the reader never sees a hole.
TEST_F(CacheFileTest, WhatIsEvictedWhileItIsReadIsNotReadAsZeros) {
  const auto file = Open(4 * kBlockBytes), reader = Open(4 * kBlockBytes);
  const std::string block(4 * kBlockBytes, 'x');
  ASSERT_TRUE(Write(*file, 0, block).ok());
  std::atomic<bool> over{false};
  std::atomic<size_t> read = 0;
  std::thread evictor([&] {
    for (int i = 0; i < 500 || (i < 100'000 && read < kEnough); i++) {
      EXPECT_TRUE(file->Evict(0, 4));
      EXPECT_TRUE(Write(*file, 0, block).ok());
      std::this_thread::sleep_for(kPause);
    }
    over = true;
  });
  while (!over) {
    const std::string seen = Read(*reader, 0, block.size());
    if (seen.empty()) continue;
    read++;
    EXPECT_EQ(seen.find_first_not_of('x'), std::string::npos);
  }
  evictor.join();
  EXPECT_GE(read, kEnough);
}

// One thread writes while another evicts: a block marked present is present, not the hole made meanwhile.
TEST_F(CacheFileTest, WhatIsEvictedWhileItIsWrittenIsNotSaidToBeHere) {
  const auto writer = Open(4 * kBlockBytes), evictor = Open(4 * kBlockBytes), reader = Open(4 * kBlockBytes);
  const std::string block(4 * kBlockBytes, 'x');
  std::atomic<bool> over{false};
  std::atomic<size_t> evicted = 0, read = 0;
  std::thread writing([&] {
    for (int i = 0; i < 500 || (i < 100'000 && (evicted < kEnough || read < kEnough)); i++) {
      EXPECT_TRUE(Write(*writer, 0, block).ok());
      std::this_thread::sleep_for(kPause);
    }
    over = true;
  });
  std::thread evicting([&] {
    while (!over) {
      evicted += evictor->Evict(0, 4) ? 1 : 0;
      std::this_thread::sleep_for(kPause);
    }
  });
  while (!over) {
    const std::string seen = Read(*reader, 0, block.size());
    if (seen.empty()) continue;
    read++;
    EXPECT_EQ(seen.find_first_not_of('x'), std::string::npos);
  }
  writing.join();
  evicting.join();
  EXPECT_GE(read, kEnough);
  EXPECT_GE(evicted, kEnough);
}

TEST_F(CacheFileTest, TellsWhatWasKeptWithoutOpeningIt) {
  CacheFile::Kept kept;
  EXPECT_FALSE(CacheFile::Look(directory_.get(), "key", &kept));
  auto file = Open(2 * kBlockBytes + 5);
  ASSERT_TRUE(Write(*file, 0, std::string(2 * kBlockBytes, 'x')).ok());
  ASSERT_TRUE(CacheFile::Look(directory_.get(), "key", &kept));
  EXPECT_FALSE(kept.whole);
  EXPECT_GE(kept.disk_bytes, 2 * kBlockBytes);
  ASSERT_TRUE(Write(*file, 2, "12345").ok());
  const int64_t before = kept.used_ns;
  CacheFile::Touch(directory_.get(), "key");
  ASSERT_TRUE(CacheFile::Look(directory_.get(), "key", &kept));
  EXPECT_TRUE(kept.whole);
  EXPECT_GE(kept.used_ns, before);
  EXPECT_GE(file->disk_bytes(), kept.disk_bytes);
}

TEST_F(CacheFileTest, WhatIsNoWholePairIsNotKept) {
  CacheFile::Kept kept;
  const auto damaged = [&](const std::string& name, const std::function<void(int)>& damage) {
    for (const char* each : {"key.map", "key.data"}) unlinkat(directory_.get(), each, 0);
    auto file = Open(2 * kBlockBytes + 5);
    EXPECT_TRUE(CacheFile::Look(directory_.get(), "key", &kept));
    const core::Fd fd(openat(directory_.get(), name.c_str(), O_RDWR));
    damage(fd.get());
    return !CacheFile::Look(directory_.get(), "key", &kept);
  };
  for (const off_t length : {0, 5, 63, 64, 71, 73}) {
    EXPECT_TRUE(damaged("key.map", [length](int fd) { ASSERT_EQ(ftruncate(fd, length), 0); })) << length;
  }
  // Each byte of the head that has a meaning.
  for (const off_t at : {0, 4, 8, 15, 24, 28}) {
    EXPECT_TRUE(damaged("key.map", [at](int fd) { ASSERT_EQ(pwrite(fd, "\xfe", 1, at), 1); })) << at;
  }
  EXPECT_TRUE(damaged("key.data", [](int fd) { ASSERT_EQ(ftruncate(fd, 2 * kBlockBytes), 0); }));
  unlinkat(directory_.get(), "key.data", 0);
  EXPECT_FALSE(CacheFile::Look(directory_.get(), "key", &kept));
  ASSERT_EQ(symlinkat("/etc/passwd", directory_.get(), "key.data"), 0);
  EXPECT_FALSE(CacheFile::Look(directory_.get(), "key", &kept));
}

}  // namespace
}  // namespace keibi::remote
