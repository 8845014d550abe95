// SPDX-License-Identifier: MPL-2.0
#include "platform/disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/limits.h"
#include "core/whole_io.h"
#include "disk_tree.h"
#include "platform/write_at.h"

namespace keibi::platform {
namespace {

class WriteBehindTest : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = core::Fd(open((folder_.path() / "long").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(fd_.valid());
  }

  bool InMemory(uint64_t offset) const {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* const mapped = mmap(nullptr, page, PROT_READ, MAP_SHARED, fd_.get(), static_cast<off_t>(offset));
    unsigned char resident = 0;
    EXPECT_TRUE(mapped != MAP_FAILED && mincore(mapped, page, &resident) == 0);
    munmap(mapped, page);
    return (resident & 1) != 0;
  }

  // A tmpfs has no other place for the data.
  bool CanForget() const {
    struct statfs system;
    return fstatfs(fd_.get(), &system) == 0 && system.f_type != TMPFS_MAGIC;
  }

  test::Folder folder_;
  core::Fd fd_;
};

TEST_F(WriteBehindTest, ForgetsWhatTheDiskHasHadForLongAndKeepsTheRest) {
  const std::vector<uint8_t> chunk(core::kChunkBytes, 7);
  constexpr uint64_t kEnd = kWriteBehindKept + 2 * kWriteBehindWindow;
  for (uint64_t at = 0; at < kEnd; at += chunk.size()) {
    ASSERT_TRUE(WriteAt(fd_.get(), chunk.data(), chunk.size(), at).ok());
    const uint64_t end = at + chunk.size();
    // Only data on the disk can be forgotten: here it always is.
    if (end % kWriteBehindWindow == 0) {
      ASSERT_EQ(fdatasync(fd_.get()), 0);
    }
    WriteBehind(fd_.get(), end);
  }
  EXPECT_EQ(InMemory(0), !CanForget());
  EXPECT_EQ(InMemory(2 * kWriteBehindWindow - core::kChunkBytes), !CanForget());
  EXPECT_TRUE(InMemory(2 * kWriteBehindWindow));
  EXPECT_TRUE(InMemory(kEnd - core::kChunkBytes));
  uint8_t first = 0;
  EXPECT_EQ(pread(fd_.get(), &first, 1, 0), 1);
  EXPECT_EQ(first, 7);
}

TEST(WriteZerosTest, WritesThemInTheGivenRangeOnly) {
  const test::Folder folder;
  const core::Fd fd(open((folder.path() / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::vector<uint8_t> full(3 * core::kChunkBytes, 7);
  ASSERT_TRUE(WriteAt(fd.get(), full.data(), full.size(), 0).ok());
  constexpr uint64_t kFrom = 5, kEnd = 2 * core::kChunkBytes + 9;
  EXPECT_TRUE(WriteZeros(fd.get(), kEnd, kFrom).ok());
  EXPECT_TRUE(WriteZeros(fd.get(), kFrom, kEnd).ok());
  std::vector<uint8_t> expected = full, found(full.size() + 1);
  std::fill(expected.begin() + kFrom, expected.begin() + kEnd, 0);
  ASSERT_EQ(core::ReadWhole(fd.get(), found.data(), found.size(), 0), static_cast<ssize_t>(full.size()));
  found.resize(full.size());
  EXPECT_TRUE(found == expected);
}

TEST(WriteZerosTest, SaysThatItCannot) {
  const core::Fd fd(open("/dev/full", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(WriteZeros(fd.get(), 0, 10).code, core::Code::kDiskFull);
}

}  // namespace
}  // namespace keibi::platform
