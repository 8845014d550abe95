// SPDX-License-Identifier: MPL-2.0
#include "mount/overlay_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "disk_tree.h"
#include "manifest/entry.h"
#include "mount/conflict_name.h"

namespace keibi::mount {
namespace {

using remote::CacheFile;
using remote::kCacheBlockBytes;

TEST(MountRanges, AreASetOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    Ranges ranges;
    std::vector<bool> bytes(64, false);
    for (int step = 0; step < 30; step++) {
      const uint64_t from = random() % 64, end = from + random() % (65 - from);
      const bool add = random() % 3 > 0;
      add ? ranges.Add(from, end) : ranges.Remove(from, end);
      for (uint64_t i = from; i < end; i++) bytes[i] = add;
      size_t count = 0;
      uint64_t last = 0;
      std::vector<bool> seen(64, false);
      for (const auto& [first, stop] : ranges.map()) {
        EXPECT_TRUE(count == 0 || first > last) << "apart, or one";
        EXPECT_LT(first, stop);
        for (uint64_t i = first; i < stop; i++) seen[i] = true;
        last = stop;
        count++;
      }
      ASSERT_EQ(seen, bytes);
      ASSERT_EQ(ranges.bytes(), static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), true)));
      const uint64_t a = random() % 64, b = a + random() % (65 - a);
      ASSERT_EQ(ranges.Covers(a, b), std::all_of(bytes.begin() + a, bytes.begin() + b, [](bool is) { return is; }));
    }
  }
}

TEST(MountConflictName, StandsBesideTheOtherWithItsEnding) {
  const auto name = [](std::string_view of, int number) { return ConflictName(of, "2026-01-31", "me", number); };
  EXPECT_EQ(name("a.txt", 1), "a (conflict 2026-01-31 me).txt");
  EXPECT_EQ(name("a.txt", 2), "a (conflict 2026-01-31 me 2).txt");
  EXPECT_EQ(name(".bashrc", 1), ".bashrc (conflict 2026-01-31 me)");
  EXPECT_EQ(name("Makefile", 1), "Makefile (conflict 2026-01-31 me)");
  std::string umlauts;
  for (int i = 0; i < 125; i++) umlauts += "ä";
  const std::string cut = name(umlauts + ".txt", 3);
  EXPECT_LE(cut.size(), 255U);
  EXPECT_TRUE(manifest::IsUtf8(cut));
  EXPECT_TRUE(cut.ends_with("ä (conflict 2026-01-31 me 3).txt"));
}

// The other peer's file as puts change it, and the content that a program here expects.
class OverlayFileTest : public testing::Test {
 protected:
  void Begin(const std::string& content) {
    there_ = here_ = content;
    version_ = {content.size(), 1};
    ASSERT_EQ(OverlayFile::Open(directory_.get(), version_, nullptr, &dirty_, &draft_), 0);
  }
  void Write(uint64_t offset, const std::string& bytes) {
    ASSERT_EQ(draft_->Write(offset, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), ++clock_), 0);
    if (here_.size() < offset + bytes.size()) here_.resize(offset + bytes.size());
    here_.replace(offset, bytes.size(), bytes);
  }
  void Truncate(uint64_t size) {
    ASSERT_EQ(draft_->Truncate(size, ++clock_), 0);
    here_.resize(size);
  }
  // Reads the present bytes; fetches missing ones.
  std::string Read(uint64_t offset, size_t length) {
    std::string bytes(length, 'x');
    size_t read = 0;
    Missing missing;
    int error = 0;
    while (!draft_->Read(offset, reinterpret_cast<uint8_t*>(bytes.data()), length, &read, &missing, &error)) {
      EXPECT_EQ(missing.of, version_);
      EXPECT_LT(missing.first, missing.end);
      Fetch(missing);
    }
    EXPECT_EQ(error, 0);
    return bytes.substr(0, read);
  }
  void Fetch(const Missing& missing) {
    std::shared_ptr<CacheFile> content = missing.content;
    if (content == nullptr) {
      const std::string key = "version-" + std::to_string(version_.mtime_ns);
      ASSERT_TRUE(CacheFile::Open(directory_.get(), key, {version_.size, version_.mtime_ns}, &content).ok());
      draft_->AddContent(missing.of, content);
    }
    for (uint32_t block = missing.first; block < missing.end; block++) {
      const std::string bytes = there_.substr(uint64_t{block} * remote::kCacheBlockBytes, remote::kCacheBlockBytes);
      ASSERT_TRUE(content->Write(block, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()).ok());
    }
  }
  // Applies a put like the other peer; `whole`, or only its first half.
  void Apply(const Put& put, bool whole) {
    ASSERT_EQ(put.base, version_);
    ASSERT_LE(put.keep, put.base.size);
    ASSERT_LE(put.keep, put.now.size);
    there_.resize(put.keep);
    size_t left = whole ? put.ranges.size() : put.ranges.size() / 2;
    for (const auto& [offset, length] : put.ranges) {
      if (left-- == 0) break;
      std::string bytes(length, 'x');
      ASSERT_EQ(pread(File().get(), bytes.data(), length, static_cast<off_t>(offset)), static_cast<ssize_t>(length));
      if (there_.size() < offset + length) there_.resize(offset + length);
      there_.replace(offset, length, bytes);
    }
    if (!whole) return;
    there_.resize(put.now.size);
    version_ = {put.now.size, put.now.mtime_ns};
  }
  core::Fd File() const { return core::Fd(openat(directory_.get(), (draft_->token() + ".data").c_str(), O_RDONLY)); }
  void PutAll() {
    for (Put put; draft_->Begin(true, UINT64_MAX, &put);) {
      Apply(put, true);
      draft_->Done(put, version_);
    }
  }

  test::Folder folder_;
  core::Fd directory_{open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY)};
  std::atomic<uint64_t> dirty_{0};
  std::shared_ptr<OverlayFile> draft_;
  std::string there_, here_;
  FileVersion version_;
  int64_t clock_ = 100;
};

TEST_F(OverlayFileTest, IsWhatWasWrittenOverWhatIsThere) {
  Begin(test::Content(3 * remote::kCacheBlockBytes + 10));
  Write(70'000, "new");
  EXPECT_EQ(Read(69'990, 30), here_.substr(69'990, 30));
  Truncate(70'001);
  Write(70'010, "behind a hole");
  EXPECT_EQ(Read(69'990, 100), here_.substr(69'990));
  Put put;
  ASSERT_TRUE(draft_->Begin(false, UINT64_MAX, &put));
  EXPECT_EQ(put.keep, 70'001U);
  EXPECT_EQ(put.ranges, (std::vector<std::pair<uint64_t, uint64_t>>{{70'000, 1}, {70'010, 13}}));
  EXPECT_FALSE(draft_->Begin(false, UINT64_MAX, &put));
}

TEST_F(OverlayFileTest, AFailedPutIsDirtyAgainExceptForWhatWasCutOffMeanwhile) {
  Begin("0123456789");
  Write(2, "abcdef");
  Put put;
  ASSERT_TRUE(draft_->Begin(false, UINT64_MAX, &put));
  EXPECT_EQ(dirty_, 6U);
  Truncate(4);
  Write(6, "z");
  draft_->Failed(put);
  ASSERT_TRUE(draft_->Begin(false, UINT64_MAX, &put));
  EXPECT_EQ(put.keep, 4U);
  EXPECT_EQ(put.ranges, (std::vector<std::pair<uint64_t, uint64_t>>{{2, 2}, {6, 1}}));
  Apply(put, true);
  draft_->Done(put, version_);
  EXPECT_EQ(there_, here_);
  EXPECT_EQ(dirty_, 0U);
  EXPECT_FALSE(draft_->NeedsPut(false));
}

TEST_F(OverlayFileTest, APutIsNotOnTheDiskUntilOneSaysSo) {
  Begin("");
  Write(0, "ab");
  Put put;
  ASSERT_TRUE(draft_->Begin(true, 1, &put));
  EXPECT_FALSE(put.sync);  // more is to come
  Apply(put, true);
  draft_->Done(put, version_);
  ASSERT_TRUE(draft_->Begin(false, UINT64_MAX, &put));
  Apply(put, true);
  draft_->Done(put, version_);
  EXPECT_FALSE(draft_->NeedsPut(false));
  EXPECT_TRUE(draft_->NeedsPut(true));
  ASSERT_TRUE(draft_->Begin(true, UINT64_MAX, &put));
  EXPECT_TRUE(put.sync && put.ranges.empty());
  draft_->Done(put, version_);
  EXPECT_FALSE(draft_->NeedsPut(true));
}

TEST_F(OverlayFileTest, KnowsWhatItHasSeenWhenItBecomesAnother) {
  Begin(test::Content(3 * remote::kCacheBlockBytes));
  Read(remote::kCacheBlockBytes, 1);
  Write(5, "ours");
  const std::string copy(here_.size() - 10, 't');
  ASSERT_EQ(draft_->MoveTo({copy.size(), 9}, true), 0);
  std::string expected = copy;
  expected.resize(here_.size());
  expected.replace(5, 4, "ours");
  expected.replace(remote::kCacheBlockBytes, remote::kCacheBlockBytes,
                   here_.substr(remote::kCacheBlockBytes, remote::kCacheBlockBytes));
  there_ = copy;
  version_ = {copy.size(), 9};
  EXPECT_TRUE(Read(0, here_.size()) == expected);
  PutAll();
  EXPECT_TRUE(there_ == expected);
}

class OverlayFileSteps : public OverlayFileTest, public testing::WithParamInterface<int> {};

// In any order of writes, truncations, and successful or failed puts, no data is lost or mixed.
TEST_P(OverlayFileSteps, LeaveTheSameHereAndThere) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  constexpr uint64_t kMost = 5 * remote::kCacheBlockBytes;
  Begin(test::Content(random() % kMost));
  Put put;
  bool putting = false;
  for (int step = 0; step < 400; step++) {
    switch (random() % 9) {
      case 0:
      case 1:
      case 2:
        Write(random() % kMost,
              std::string(1 + random() % (random() % 2 == 0 ? 20 : 90'000), static_cast<char>(random())));
        break;
      case 3:
        Truncate(random() % 3 == 0 ? 0 : random() % kMost);
        break;
      case 4:
      case 5: {
        // During a put the other peer has neither version.
        if (putting) break;
        const uint64_t offset = random() % kMost;
        const size_t length = random() % 150'000;
        ASSERT_TRUE(Read(offset, length) == (offset < here_.size() ? here_.substr(offset, length) : "")) << offset;
        break;
      }
      case 6:
        if (!putting) putting = draft_->Begin(random() % 2 == 0, random() % 2 == 0 ? 50'000 : UINT64_MAX, &put);
        break;
      case 7:
        if (!std::exchange(putting, false)) break;
        if (random() % 3 == 0) {
          // Half of it is there, and it is unknown which half.
          const FileVersion before = version_;
          Apply(put, false);
          draft_->Failed(put);
          there_.resize(before.size);
        } else {
          Apply(put, true);
          draft_->Done(put, version_);
        }
        break;
      default:
        if (random() % 4 == 0) draft_->Shrink(30'000);
        break;
    }
    ASSERT_EQ(draft_->version().size, here_.size());
  }
  if (putting) {
    Apply(put, true);
    draft_->Done(put, version_);
  }
  PutAll();
  ASSERT_TRUE(there_ == here_);
  EXPECT_EQ(dirty_, 0U);
  ASSERT_TRUE(Read(0, 2 * kMost) == here_);
  if (here_.empty()) return;
  ASSERT_TRUE(draft_->Complete(kMost * 2));
  std::string file(here_.size(), 'x');
  ASSERT_EQ(pread(File().get(), file.data(), file.size(), 0), static_cast<ssize_t>(file.size()));
  EXPECT_TRUE(file == here_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, OverlayFileSteps, testing::Range(0, 40));

}  // namespace
}  // namespace keibi::mount
