// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>

#include "receive/transfer_pair.h"

// Sparse files: holes are found, are sent without their zeros, and become holes again (PROTOCOL 5.2).
namespace keibi::receive {
namespace {

using core::Code;
using core::kChunkBytes;
using test::Content;
using test::Pair;

constexpr uint64_t kSparseBytes = 64 * kChunkBytes + 5;

class HoleTest : public testing::Test {
 protected:
  HoleTest() : dirs_(table_, {}, Code::kSourceUnreadable), sources_(table_, tops_, &dirs_) {}

  // A source file of kSparseBytes with data at these places, as the walk would find it.
  std::unique_ptr<send::SourceFile> Offer(const std::vector<uint64_t>& places, bool sparse = true) {
    const auto path = folder_ / "file";
    test::WriteSparse(path, kSparseBytes, "data", places);
    tops_.push_back({path.string(), "file"});
    manifest::Entry entry;
    entry.name = tops_.back().name;
    entry.size = kSparseBytes;
    entry.mtime_ns = test::MtimeOf(path);
    entry.sparse = sparse;
    const uint32_t index = table_.Append(entry);
    return std::make_unique<send::SourceFile>(index, entry);
  }
  uint32_t HoleAt(send::SourceFile* file, uint32_t chunk) {
    uint32_t chunks = 77;
    EXPECT_TRUE(file->FindHole(sources_, chunk, &chunks).ok());
    return chunks;
  }

  test::Folder folder_;
  manifest::EntryTable table_;
  std::vector<send::Root> tops_;
  disk::DirHandles dirs_;
  send::Sources sources_;
};

TEST_F(HoleTest, IsFoundByWholeChunks) {
  // Data in chunks 3, 4 (its last bytes) and 10, one byte before chunk 20, and around the border of 30 and 31.
  const auto file = Offer(
      {3 * kChunkBytes, 5 * kChunkBytes - 4, 10 * kChunkBytes + 70'000, 20 * kChunkBytes - 4, 31 * kChunkBytes - 2});
  std::map<uint32_t, uint32_t> holes;  // keyed by the end of the previous one
  std::vector<uint32_t> data;
  for (uint32_t chunk = 0; chunk < 65; chunk += std::max(1u, holes[chunk])) {
    holes[chunk] = HoleAt(file.get(), chunk);
    if (holes[chunk] == 0) data.push_back(chunk);
  }
  std::erase_if(holes, [](const auto& item) { return item.second == 0; });
  EXPECT_EQ(holes, (std::map<uint32_t, uint32_t>{{0, 3}, {5, 5}, {11, 8}, {20, 10}, {32, 33}}));
  EXPECT_EQ(data, (std::vector<uint32_t>{3, 4, 10, 19, 30, 31}));
  EXPECT_EQ(HoleAt(file.get(), 1), 2u);
  EXPECT_EQ(HoleAt(file.get(), 64), 1u);
  EXPECT_EQ(HoleAt(file.get(), 0), 3u);  // lanes may ask in any order
}

TEST_F(HoleTest, IsNotFoundInDataThatReachesTheEnd) {
  const auto file = Offer({kSparseBytes - 4});
  EXPECT_EQ(HoleAt(file.get(), 0), 64u);
  EXPECT_EQ(HoleAt(file.get(), 64), 0u);
}

TEST_F(HoleTest, IsNotLookedForInAFileOfferedAsDense) { EXPECT_EQ(HoleAt(Offer({}, false).get(), 0), 0u); }

TEST_F(HoleTest, IsNotSentForAChangedFile) {
  const auto file = Offer({kChunkBytes});
  test::SetMtime(folder_ / "file", 7);
  uint32_t chunks;
  EXPECT_EQ(file->FindHole(sources_, 2, &chunks).code, Code::kSourceChanged);
}

class SparsePartTest : public testing::Test {
 protected:
  void SetUp() override {
    destination_ = core::Fd(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(staging_.Open(destination_.get()).ok());
  }
  void TearDown() override { staging_.Close(); }

  PartFile::Written Put(PartFile* part, uint32_t chunk, const std::string& content) {
    PartFile::Written written;
    EXPECT_TRUE(part->Write(chunk, reinterpret_cast<const uint8_t*>(content.data()), content.size(), &written).ok());
    return written;
  }
  PartFile::Written Leave(PartFile* part, uint32_t chunk, uint32_t chunks, uint64_t new_bytes) {
    PartFile::Written written;
    uint64_t counted;
    EXPECT_TRUE(part->LeaveHole(chunk, chunks, &counted, &written).ok());
    EXPECT_EQ(counted, new_bytes);
    return written;
  }
  test::fs::path Data(const PartFile& part) const { return folder_ / ".keibidrop-partial" / part.DataName(); }

  test::Folder folder_;
  core::Fd destination_;
  Staging staging_;
  const PartIdentity identity_{"sparse", {kSparseBytes, 5}, true};
};

TEST_F(SparsePartTest, KeepsHolesAndCountsThemOnce) {
  PartFile part(staging_, identity_);
  const std::string content = Content(kChunkBytes);
  EXPECT_EQ(Leave(&part, 0, 10, 10 * kChunkBytes), PartFile::Written::kNew);
  EXPECT_EQ(Leave(&part, 5, 10, 5 * kChunkBytes), PartFile::Written::kNew);
  EXPECT_EQ(Leave(&part, 0, 15, 0), PartFile::Written::kIgnored);
  EXPECT_EQ(Put(&part, 3, content), PartFile::Written::kIgnored);
  EXPECT_EQ(Put(&part, 15, content), PartFile::Written::kNew);
  EXPECT_EQ(Leave(&part, 14, 51, 48 * kChunkBytes + 5), PartFile::Written::kLast);
  EXPECT_EQ(test::fs::file_size(Data(part)), 16 * kChunkBytes);
  ASSERT_TRUE(part.Complete(0644).ok());
  EXPECT_EQ(test::ReadFile(Data(part)),
            std::string(15 * kChunkBytes, '\0') + content + std::string(48 * kChunkBytes + 5, '\0'));
  EXPECT_LE(test::AllocatedBytes(Data(part)), kChunkBytes + 65536);
}

TEST_F(SparsePartTest, WritesOnlyTheBlocksOfAChunkThatHoldAnything) {
  std::string content(kChunkBytes, '\0');
  content[0] = content[300'000] = content[4096 * 200 - 1] = content[kChunkBytes - 1] = 'x';
  PartFile part(staging_, identity_);
  Put(&part, 1, content);
  EXPECT_EQ(test::ReadFile(Data(part)), std::string(kChunkBytes, '\0') + content);
  EXPECT_LE(test::AllocatedBytes(Data(part)), 5u * 4096);
}

TEST_F(SparsePartTest, MakesZerosOfWhatAnEarlierRunWroteWhereThereIsAHole) {
  std::string some(kChunkBytes, '\0');
  some[5000] = 'x';
  {
    PartFile killed(staging_, identity_);
    Put(&killed, 0, Content(kChunkBytes));
    ASSERT_TRUE(killed.Save(false).ok());
    // without their bits in the saved map
    for (uint32_t chunk = 1; chunk < 5; chunk++) Put(&killed, chunk, Content(kChunkBytes));
  }
  PartFile part(staging_, identity_);
  ASSERT_EQ(part.Load(), PartFile::Found::kRest);
  EXPECT_EQ(Put(&part, 4, some), PartFile::Written::kNew);
  EXPECT_EQ(Leave(&part, 0, 65, 62 * kChunkBytes + 5), PartFile::Written::kLast);
  ASSERT_TRUE(part.Complete(0644).ok());
  EXPECT_EQ(test::ReadFile(Data(part)),
            Content(kChunkBytes) + std::string(3 * kChunkBytes, '\0') + some + std::string(59 * kChunkBytes + 5, '\0'));
  EXPECT_LE(test::AllocatedBytes(Data(part)), kChunkBytes + 65536);
}

TEST_F(SparsePartTest, MayBeLargerThanTheDisk) {
  PartFile part(staging_, {"huge", core::kMaxSparseBytes, 0, true});
  EXPECT_EQ(Leave(&part, 0, 1000, 1000 * kChunkBytes), PartFile::Written::kNew);
  EXPECT_EQ(Put(&part, 1000, Content(kChunkBytes)), PartFile::Written::kNew);
}

class SparseTransfer : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    test::fs::create_directory(folder_ / "source");
    const std::string island = Content(2 * kChunkBytes + 9);
    test::WriteSparse(folder_ / "source/islands", 60 * kChunkBytes + 7, island,
                      {0, 17 * kChunkBytes + 3, 50 * kChunkBytes});
    test::WriteSparse(folder_ / "source/to the end", 20 * kChunkBytes, island, {20 * kChunkBytes - island.size()});
    test::WriteSparse(folder_ / "source/nothing", 10 * kChunkBytes + 1, "", {});
    test::WriteSparse(folder_ / "source/small", kChunkBytes, "", {});
    test::WriteFile(folder_ / "source/dense", island);
  }
  void ExpectSame() {
    EXPECT_TRUE(test::Listing(folder_ / "out/source") == test::Listing(folder_ / "source"));
    for (const char* const name : {"islands", "to the end", "nothing"}) {
      const auto source = folder_ / "source" / name, out = folder_ / "out/source" / name;
      EXPECT_LE(test::AllocatedBytes(out), test::AllocatedBytes(source) + 65536) << name;
    }
  }
  test::Folder folder_;
};

TEST_P(SparseTransfer, ArrivesEqualAndSparse) {
  Pair pair(folder_ / "source", folder_ / "out", {.lanes = GetParam()});
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(pair.received_problems.empty());
  EXPECT_EQ(pair.receiver->progress().bytes, pair.receiver->progress().placed_bytes);
  ExpectSame();
}

TEST_P(SparseTransfer, ResumesWhereItWasInterrupted) {
  {
    Pair cut(folder_ / "source", folder_ / "out",
             {.lanes = GetParam(), .send_budget = std::make_shared<net::RateBudget>(4 << 20)});
    cut.Open();
    ASSERT_TRUE(cut.RunUntil([&] { return cut.receiver->progress().bytes >= 12 * kChunkBytes; }));
  }
  Pair resumed(folder_ / "source", folder_ / "out", {.lanes = GetParam()});
  ASSERT_TRUE(resumed.Run());
  EXPECT_EQ(resumed.receiver->progress().bytes, 93 * kChunkBytes + 7 + 1 + 9);
  ExpectSame();
}

INSTANTIATE_TEST_SUITE_P(Lanes, SparseTransfer, testing::Values(1, 4));

}  // namespace
}  // namespace keibi::receive
