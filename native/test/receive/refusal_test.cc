// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "core/bytes.h"
#include "disk_tree.h"
#include "receive/receive_job.h"
#include "receive/transfer_pair.h"
#include "send/send_job.h"
#include "served.h"

// A peer breaks the rules (PROTOCOL 5.2, 7): its lane ends with the code, and nothing is placed.
namespace keibi::receive {
namespace {

using core::Code;
using frame::Role;
using manifest::EntryType;
using manifest::Segment;
using test::Bytes;

constexpr uint64_t kLarge = 2 * core::kChunkBytes + 5;

// A receiver under test, and a sender made of bare frames.
class RefusalTest : public test::ServedTest {
 protected:
  enum : uint32_t { kDirectory, kSmall, kLargeFile, kStdin, kUpToDate, kSecondSmall, kSparse };

  void SetUp() override {
    Serve();
    lanes_ = Expect();
    job_ = std::make_unique<ReceiveJob>(
        ReceiveOptions{.out = out().string(), .beneath = {}, .collisions = Collision::kSkip, .to_stdout = false},
        bell_.wake());
    ASSERT_TRUE(job_->Open().ok());
    test::WriteFile(folder_ / "out/there", "mine");
    Append(EntryType::kDirectory, "d", 0);
    Append(EntryType::kFile, "small", 3);
    Append(EntryType::kFile, "large", kLarge);
    Append(EntryType::kStream, "stdin", 0);
    Append(EntryType::kFile, "there", 4);
    Append(EntryType::kFile, "small too", 4);
    Append(EntryType::kFile, "sparse", kLarge, /*sparse=*/true);
    ReceivePlan plan;
    ASSERT_TRUE(job_->Plan(0, count_, page_.data(), page_.size(), &plan).ok());
    EXPECT_EQ(plan.wanted, Bytes{0b1101110});
    job_->EndOfPages();
    lane_ = NextLane();
  }
  void TearDown() override { job_->Stop(); }

  test::fs::path out() const { return folder_ / "out"; }
  void Append(EntryType type, const std::string& name, uint64_t size, bool sparse = false) {
    manifest::Entry entry;
    entry.type = type;
    entry.mode = 0755;
    entry.name = name;
    entry.size = size;
    entry.sparse = sparse;
    manifest::AppendEntry(&page_, entry);
    count_++;
  }
  test::Lane NextLane() {
    const net::ExpectedLanes session{kSession, test::KeyOf(4), kSuite, Role::kInitiator};
    EXPECT_TRUE(job_->lanes().Add("127.0.0.1", listener_->port(), next_lane_++, session, std::nullopt).ok());
    return std::move(*lanes_->inbox.Take());
  }

  static void AppendSegment(Bytes* plaintext, uint32_t entry, uint64_t offset, const Bytes& data, uint8_t flags = 0) {
    const Segment segment{entry, flags, offset, static_cast<uint32_t>(data.size())};
    const size_t at = plaintext->size();
    plaintext->resize(at + Segment::kHeaderBytes);
    segment.WriteHeader(plaintext->data() + at);
    plaintext->insert(plaintext->end(), data.begin(), data.end());
  }
  static Bytes SegmentOf(uint32_t entry, uint64_t offset, const Bytes& data, uint8_t flags = 0) {
    Bytes plaintext{1};
    AppendSegment(&plaintext, entry, offset, data, flags);
    return plaintext;
  }
  static void AppendHole(Bytes* plaintext, uint32_t entry, uint64_t offset, uint32_t chunks,
                         uint8_t flags = manifest::kHole) {
    const size_t at = plaintext->size();
    plaintext->resize(at + Segment::kHeaderBytes);
    Segment{entry, flags, offset, chunks}.WriteHeader(plaintext->data() + at);
  }
  static Bytes HoleOf(uint32_t entry, uint64_t offset, uint32_t chunks, uint8_t flags = manifest::kHole) {
    Bytes plaintext{1};
    AppendHole(&plaintext, entry, offset, chunks, flags);
    return plaintext;
  }
  static void Send(test::Lane* lane, const Bytes& plaintext) {
    const Bytes frame = test::Seal(lane->sealer.get(), plaintext);
    for (size_t done = 0; done < frame.size();) {
      const ssize_t sent = ::send(lane->fd.get(), frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) return;  // the receiver has ended the lane
      done += static_cast<size_t>(sent);
    }
  }
  void Send(const Bytes& plaintext) { Send(&lane_, plaintext); }

  template <typename Done>
  bool Await(Done done) {
    for (int i = 0; i < 2000 && !done(); i++) {
      bell_.Wait(std::chrono::milliseconds(5));
      const ReceiveNews news = job_->TakeNews();
      complete_ = complete_ || news.complete;
      for (const net::LaneEnd& end : news.lanes_ended) closed_.push_back(end.status);
      problems_.insert(problems_.end(), news.problems.begin(), news.problems.end());
    }
    return done();
  }
  // The code with which the lane ends after this frame.
  Code Refusal(const Bytes& plaintext) {
    Send(plaintext);
    return Await([&] { return !closed_.empty(); }) ? closed_[0].code : Code::kOk;
  }
  void ExpectNothingPlaced() {
    job_->Stop();
    EXPECT_EQ(test::Listing(out(), false).size(), 2u);  // `d` and `there`
    EXPECT_EQ(test::ReadFile(out() / "there"), "mine");
  }

  test::Folder folder_;
  test::Bell bell_;
  std::shared_ptr<test::Lanes> lanes_;
  std::unique_ptr<ReceiveJob> job_;
  Bytes page_;
  uint32_t count_ = 0, next_lane_ = 0;
  test::Lane lane_;
  std::vector<core::Status> closed_;
  std::vector<EntryProblem> problems_;
  bool complete_ = false;
};

struct Broken {
  const char* name;
  Code code;
  uint32_t entry;
  uint64_t offset;
  size_t bytes;
  uint8_t flags;
};

class BrokenSegment : public RefusalTest, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenSegment, EndsTheLane) {
  const Broken& broken = GetParam();
  EXPECT_EQ(Refusal(SegmentOf(broken.entry, broken.offset, Bytes(broken.bytes), broken.flags)), broken.code);
  ExpectNothingPlaced();
}

constexpr size_t kChunk = core::kChunkBytes;
INSTANTIATE_TEST_SUITE_P(
    All, BrokenSegment,
    testing::Values(Broken{"OfADirectory", Code::kHandshakeMalformed, 0, 0, 3, 0},
                    Broken{"OfNoEntry", Code::kHandshakeMalformed, 7, 0, 3, 0},
                    Broken{"OfTheTop", Code::kHandshakeMalformed, manifest::kTop, 0, 3, 0},
                    Broken{"OfAFileNotAskedFor", Code::kHandshakeMalformed, 4, 0, 4, 0},
                    Broken{"WithAStreamsFlag", Code::kHandshakeMalformed, 1, 0, 3, 1},
                    Broken{"WithAnUnknownFlag", Code::kHandshakeMalformed, 3, 0, 3, 4},
                    Broken{"SparseWithAnUnknownFlag", Code::kHandshakeMalformed, 6, 0, kChunk, 4},
                    Broken{"SparseWithAStreamsFlag", Code::kHandshakeMalformed, 6, 0, kChunk, 1},
                    Broken{"TooShort", Code::kSizeMismatch, 1, 0, 2, 0},
                    Broken{"TooLong", Code::kSizeMismatch, 1, 0, 4, 0},
                    Broken{"Empty", Code::kSizeMismatch, 1, 0, 0, 0},
                    Broken{"BehindTheEnd", Code::kSizeMismatch, 1, kChunk, 3, 0},
                    Broken{"FarBehindTheEnd", Code::kSizeMismatch, 2, uint64_t{1} << 60, kChunk, 0},
                    Broken{"BetweenChunks", Code::kSizeMismatch, 2, 5, kChunk, 0},
                    Broken{"HalfAChunk", Code::kSizeMismatch, 2, kChunk, kChunk / 2, 0},
                    Broken{"LastChunkTooLong", Code::kSizeMismatch, 2, 2 * kChunk, 6, 0},
                    Broken{"StreamWithAGap", Code::kSizeMismatch, 3, 7, 3, 0},
                    Broken{"StreamOverTheLimit", Code::kLimitExceeded, 3, core::kMaxFileBytes - 2, 3, 0},
                    Broken{"StreamOver64Bits", Code::kLimitExceeded, 3, UINT64_MAX, 3, 0}),
    [](const auto& info) { return info.param.name; });

struct BrokenHole {
  const char* name;
  Code code;
  uint32_t entry;
  uint64_t offset;
  uint32_t chunks;
  uint8_t flags = manifest::kHole;
  size_t bytes = 0;
};

class BrokenHoleSegment : public RefusalTest, public testing::WithParamInterface<BrokenHole> {};

TEST_P(BrokenHoleSegment, EndsTheLane) {
  const BrokenHole& broken = GetParam();
  Bytes plaintext = HoleOf(broken.entry, broken.offset, broken.chunks, broken.flags);
  plaintext.resize(plaintext.size() + broken.bytes);
  EXPECT_EQ(Refusal(plaintext), broken.code);
  ExpectNothingPlaced();
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenHoleSegment,
    testing::Values(
        BrokenHole{"OfADenseFile", Code::kHandshakeMalformed, 2, 0, 1},
        BrokenHole{"OfASmallFile", Code::kHandshakeMalformed, 1, 0, 1},
        BrokenHole{"OfAStream", Code::kHandshakeMalformed, 3, 0, 1},
        BrokenHole{"OfADirectory", Code::kHandshakeMalformed, 0, 0, 1},
        BrokenHole{"ThatEndsAStream", Code::kHandshakeMalformed, 3, 0, 1, manifest::kHole | manifest::kEndOfStream},
        BrokenHole{"WithAStreamsFlag", Code::kHandshakeMalformed, 6, 0, 1, manifest::kHole | manifest::kEndOfStream},
        BrokenHole{"WithAByte", Code::kHandshakeMalformed, 6, 0, 1, manifest::kHole, 1},
        BrokenHole{"WithAChunk", Code::kHandshakeMalformed, 6, 0, 1, manifest::kHole, kChunk},
        BrokenHole{"OfNoChunks", Code::kSizeMismatch, 6, 0, 0},
        BrokenHole{"OneChunkTooLong", Code::kSizeMismatch, 6, 0, 4},
        BrokenHole{"TooLongForWhereItBegins", Code::kSizeMismatch, 6, kChunk, 3},
        BrokenHole{"OfItsBytes", Code::kSizeMismatch, 6, 0, kChunk},
        BrokenHole{"OverTheLimit", Code::kSizeMismatch, 6, 0, core::kMaxHoleChunks + 1},
        BrokenHole{"OfAllChunksThereAre", Code::kSizeMismatch, 6, 0, UINT32_MAX},
        BrokenHole{"BetweenChunks", Code::kSizeMismatch, 6, 1, 1},
        BrokenHole{"BehindTheEnd", Code::kSizeMismatch, 6, 3 * kChunk, 1},
        BrokenHole{"FarBehindTheEnd", Code::kSizeMismatch, 6, uint64_t{1} << 60, 1}),
    [](const auto& info) { return info.param.name; });

// A sender may begin any number of sparse files; the receiver's memory for them stays bounded.
TEST_F(RefusalTest, EndsTheLaneThatBeginsMoreSparseFilesThanThereIsMemoryFor) {
  Bytes page;
  constexpr uint32_t kFiles = 40;
  for (uint32_t i = 0; i < kFiles; i++) {
    const std::string name = "huge " + std::to_string(i);
    manifest::Entry entry;
    entry.name = name;
    entry.size = core::kMaxSparseBytes;
    entry.sparse = true;
    manifest::AppendEntry(&page, entry);
  }
  ReceivePlan plan;
  ASSERT_TRUE(job_->Plan(count_, kFiles, page.data(), page.size(), &plan).ok());
  Bytes plaintext = HoleOf(count_, 0, 1);
  for (uint32_t i = 1; i < kFiles; i++) AppendHole(&plaintext, count_ + i, 0, 1);
  EXPECT_EQ(Refusal(plaintext), Code::kLimitExceeded);
  EXPECT_LT(job_->progress().bytes, 4 + 33 * kChunk);
  for (uint32_t i = 0; i < kFiles; i++) job_->FailEntry(count_ + i, /*keep_part=*/false);  // so that no map is written
  ExpectNothingPlaced();
}

TEST_F(RefusalTest, EndsTheLaneForAFrameThatHoldsNoWholeSegments) {
  Bytes cut = SegmentOf(kSmall, 0, Bytes(3));
  cut.pop_back();
  EXPECT_EQ(Refusal(cut), Code::kHandshakeMalformed);
  for (const Bytes& plaintext : {Bytes{1}, Bytes{0}, Bytes{3}, Bytes{}, Bytes{1, 0, 0, 0}}) {
    closed_.clear();
    lane_ = NextLane();
    EXPECT_EQ(Refusal(plaintext), Code::kHandshakeMalformed);
  }
  ExpectNothingPlaced();
}

TEST_F(RefusalTest, WritesNothingOfAFrameWhoseLastSegmentIsWrong) {
  Bytes plaintext = SegmentOf(kSmall, 0, Bytes(3));
  AppendSegment(&plaintext, kSecondSmall, 0, Bytes(5));
  EXPECT_EQ(Refusal(plaintext), Code::kSizeMismatch);
  ExpectNothingPlaced();
}

TEST_F(RefusalTest, TellsACutLaneFromOneThatSaidGoodbye) {
  const Bytes frame = test::Seal(lane_.sealer.get(), SegmentOf(kSmall, 0, Bytes(3)));
  ASSERT_GT(::send(lane_.fd.get(), frame.data(), frame.size() - 1, 0), 0);
  lane_.fd.Close();
  EXPECT_TRUE(Await([&] { return closed_.size() == 1; }));
  lane_ = NextLane();
  lane_.fd.Close();
  EXPECT_TRUE(Await([&] { return closed_.size() == 2; }));
  lane_ = NextLane();
  Send({2});
  ASSERT_TRUE(Await([&] { return closed_.size() == 3; }));
  EXPECT_EQ(closed_[0].code, Code::kFrameTruncated);
  EXPECT_EQ(closed_[1].code, Code::kSessionLost);
  EXPECT_EQ(closed_[2].code, Code::kOk);
}

TEST_F(RefusalTest, TakesEverySegmentOnceHoweverOftenItComes) {
  test::Lane second = NextLane();
  Bytes first(kChunk, 'a'), middle(kChunk, 'b');
  for (int i = 0; i < 3; i++) {
    Bytes twice = SegmentOf(kSmall, 0, {'o', 'n', 'e'});
    AppendSegment(&twice, kSmall, 0, {'t', 'w', 'o'});
    for (test::Lane* lane : {&lane_, &second}) {
      Send(lane, twice);
      Send(lane, SegmentOf(kLargeFile, 0, first));
      Send(lane, SegmentOf(kLargeFile, kChunk, middle));
      Send(lane, SegmentOf(kSecondSmall, 0, Bytes(4, 'x')));
      Send(lane, SegmentOf(kLargeFile, 2 * kChunk, Bytes(5, 'c')));
    }
  }
  for (int i = 0; i < 2; i++) {
    Send(SegmentOf(kSparse, kChunk, middle));
    Send(&second, HoleOf(kSparse, 0, 3));  // and the present chunk stays
  }
  Send(SegmentOf(kStdin, 0, {'i', 'n'}));
  Send(SegmentOf(kStdin, 2, {}, manifest::kEndOfStream));
  ASSERT_TRUE(Await([&] { return complete_; }));
  Send(&second, SegmentOf(kStdin, 0, {'m', 'o', 'r', 'e'}));
  Send(&second, {2});
  ASSERT_TRUE(Await([&] { return !closed_.empty(); }));
  EXPECT_EQ(closed_[0].code, Code::kOk);
  EXPECT_TRUE(problems_.empty());
  EXPECT_EQ(test::ReadFile(out() / "stdin"), "in");
  EXPECT_EQ(job_->progress().files, 5u);
  EXPECT_EQ(test::ReadFile(out() / "large"), std::string(kChunk, 'a') + std::string(kChunk, 'b') + "ccccc");
  EXPECT_EQ(test::ReadFile(out() / "small too"), "xxxx");
  EXPECT_EQ(test::ReadFile(out() / "there"), "mine");
  EXPECT_EQ(test::ModeOf(out() / "stdin"), 0755u);
  job_->Stop();
  EXPECT_FALSE(test::fs::exists(out() / ".keibidrop-partial"));
}

TEST_F(RefusalTest, IgnoresWhatComesOfAnEntryThatTheSenderGaveUp) {
  Send(SegmentOf(kLargeFile, 0, Bytes(kChunk)));
  ASSERT_TRUE(Await([&] { return job_->progress().bytes == 4 + kChunk; }));
  job_->FailEntry(kLargeFile, /*keep_part=*/false);
  job_->FailEntry(kSmall, /*keep_part=*/true);
  job_->FailEntry(kStdin, /*keep_part=*/true);
  job_->FailEntry(kDirectory, /*keep_part=*/true);
  job_->FailEntry(manifest::kTop, /*keep_part=*/true);
  Send(SegmentOf(kLargeFile, kChunk, Bytes(kChunk)));
  Send(SegmentOf(kSmall, 0, Bytes(3)));
  Send(SegmentOf(kSecondSmall, 0, Bytes(4)));
  job_->FailEntry(kSparse, /*keep_part=*/false);
  ASSERT_TRUE(Await([&] { return complete_; }));
  job_->Stop();
  EXPECT_EQ(test::Listing(out(), false).size(), 3u);  // `d`, `there`, `small too`
}

TEST_F(RefusalTest, LeavesNothingOfAnUnfinishedStream) {
  Send(SegmentOf(kStdin, 0, Bytes(100)));
  ASSERT_TRUE(Await([&] { return job_->progress().bytes == 4 + 100; }));
  ExpectNothingPlaced();
}

class AnswerTest : public testing::Test {
 protected:
  void SetUp() override {
    test::WriteFile(folder_ / "small", "x");
    test::WriteFile(folder_ / "large", test::Content(kLarge));
    std::vector<send::Root> roots{{(folder_ / "small").string(), "small"},
                                  {(folder_ / "large").string(), "large"},
                                  {folder_.path().string(), "d"}};
    job_ = std::make_shared<send::SendJob>(send::SendOptions{roots, 0}, bell_.wake());
    job_->Start();
    for (send::SendNews news; !news.walked; news = job_->TakeNews()) bell_.Wait(std::chrono::milliseconds(5));
  }
  void TearDown() override { job_->Stop(); }
  Code Answer(uint32_t first, uint32_t count, const Bytes& wanted,
              const std::vector<std::pair<uint32_t, Bytes>>& partials = {}) {
    return job_->Answer(first, count, wanted.data(), wanted.size(), partials).code;
  }

  test::Folder folder_;
  test::Bell bell_;
  std::shared_ptr<send::SendJob> job_;
};

TEST_F(AnswerTest, IsRefusedWhenItDoesNotFitWhatWasOffered) {
  EXPECT_EQ(Answer(0, 0, {}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, 6, {0}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, UINT32_MAX, {0}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(UINT32_MAX, 1, {0}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, 3, {0, 0}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, 3, {}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(1, 1, {1}), Code::kHandshakeMalformed);  // out of turn
}

TEST_F(AnswerTest, IsRefusedForADirectoryOrABitmapOfAnotherFile) {
  EXPECT_EQ(Answer(0, 3, {0b011}, {{1, {0, 0}}}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, 3, {0b011}, {{2, {0}}}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, 3, {0b011}, {{7, {0}}}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(0, 3, {0b100}), Code::kHandshakeMalformed);
}

TEST_F(AnswerTest, IsTakenOnceForEveryEntry) {
  EXPECT_EQ(Answer(0, 2, {0b011}, {{1, {0xFF}}}), Code::kOk);
  EXPECT_EQ(Answer(0, 2, {0b011}), Code::kHandshakeMalformed);
  EXPECT_EQ(Answer(2, 1, {0}), Code::kOk);
  EXPECT_EQ(Answer(2, 1, {0}), Code::kHandshakeMalformed);
}

}  // namespace
}  // namespace keibi::receive
