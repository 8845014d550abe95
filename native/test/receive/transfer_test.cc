// SPDX-License-Identifier: MPL-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "receive/transfer_pair.h"

// Whole transfers in one process: disk, lanes over loopback, disk.
namespace keibi::receive {
namespace {

using core::Code;
using net::RateBudget;
using test::Content;
using test::Pair;
using test::WriteFile;

class TransferTest : public testing::Test {
 protected:
  test::fs::path Source() const { return folder_ / "source"; }
  test::fs::path Out() const { return folder_ / "out"; }
  void SetUp() override { test::fs::create_directory(Source()); }

  // Files around every size boundary, a deep path, symlinks, odd names, modes and times.
  void MakeTree() {
    const size_t sizes[] = {
        0, 1, 1000, core::kChunkBytes - 1, core::kChunkBytes, core::kChunkBytes + 1, 5 * core::kChunkBytes + 7};
    for (const size_t bytes : sizes)
      WriteFile(Source() / ("f" + std::to_string(bytes)), Content(bytes, static_cast<uint32_t>(bytes)));
    test::fs::create_directories(Source() / "a/b/c/empty");
    for (int i = 0; i < 500; i++) WriteFile(Source() / "a/b" / ("small " + std::to_string(i)), Content(i * 7 % 3000));
    WriteFile(Source() / "a" / (std::string(200, 'x') + "漢字.txt"), "named");
    test::fs::create_symlink("../nowhere", Source() / "a/link");
    WriteFile(Source() / "a/readonly", Content(2 * core::kChunkBytes));
    chmod((Source() / "a/readonly").c_str(), 0400);
    chmod((Source() / "f1").c_str(), 04755);
    test::SetMtime(Source() / "f1", -1'234'567'891);
    test::SetMtime(Source() / "f1000", 1);
    WriteFile(Source() / "a/b/c/in a closed one", "x");
    test::SetMtime(Source() / "a/b/c", 946'684'800'000'000'007);
    chmod((Source() / "a/b/c").c_str(), 0500);
  }

  // Both trees are equal, except for setuid, which is not sent.
  void ExpectSameTree() {
    chmod((Source() / "f1").c_str(), 0755);
    EXPECT_EQ(test::Listing(Out() / "source"), test::Listing(Source()));
    EXPECT_EQ(test::MtimeOf(Out() / "source"), test::MtimeOf(Source()));
  }

  test::Folder folder_;
};

struct Way {
  const char* name;
  uint32_t lanes;
  aead::Suite suite;
  const char* rekey_bytes;
};

class TransferWays : public TransferTest, public testing::WithParamInterface<Way> {};

TEST_P(TransferWays, BringATreeOverByteForByte) {
  const Way way = GetParam();
  setenv("KD_REKEY_BYTES", way.rekey_bytes, 1);
  MakeTree();
  {
    Pair pair(Source(), Out(), {.lanes = way.lanes, .suite = way.suite});
    ASSERT_TRUE(pair.Run());
    EXPECT_TRUE(pair.sent_problems.empty());
    EXPECT_TRUE(pair.received_problems.empty());
    EXPECT_EQ(pair.placed, 510u);
    EXPECT_EQ(pair.receiver->progress().files, 510u);
    EXPECT_EQ(pair.receiver->progress().bytes, pair.receiver->progress().placed_bytes);
    pair.sender->Finish();
    EXPECT_TRUE(pair.RunUntil([&] { return pair.lanes_ended.size() == way.lanes; }));
    for (const net::LaneEnd& end : pair.lanes_ended) EXPECT_TRUE(end.status.ok());
  }
  unsetenv("KD_REKEY_BYTES");
  ExpectSameTree();
  EXPECT_FALSE(test::fs::exists(Out() / ".keibidrop-partial"));
}

INSTANTIATE_TEST_SUITE_P(All, TransferWays,
                         testing::Values(Way{"OneLaneOfAes", 1, aead::Suite::kAes256Gcm, "99999999999"},
                                         Way{"FourLanesOfAes", 4, aead::Suite::kAes256Gcm, "99999999999"},
                                         Way{"OneLaneOfChaChaInTinyEpochs", 1, aead::Suite::kChaCha20Poly1305, "2000"},
                                         Way{"FourLanesOfChaCha", 4, aead::Suite::kChaCha20Poly1305, "99999999999"},
                                         Way{"FourLanesOfAesInTinyEpochs", 4, aead::Suite::kAes256Gcm, "2000"}),
                         [](const auto& info) { return info.param.name; });

TEST_F(TransferTest, SendsNothingThatIsThereAlready) {
  MakeTree();
  ASSERT_TRUE(Pair(Source(), Out()).Run());
  Pair again(Source(), Out(), {.lanes = 2});
  ASSERT_TRUE(again.Run());
  EXPECT_EQ(again.placed, 0u);
  EXPECT_EQ(again.receiver->progress().skipped, 510u);
  EXPECT_TRUE(again.received_problems.empty());
  ExpectSameTree();
}

TEST_F(TransferTest, PutsSomethingNewIntoADirectoryThatIsReadOnlyAlready) {
  test::fs::create_directory(Source() / "d");
  chmod((Source() / "d").c_str(), 0500);
  ASSERT_TRUE(Pair(Source(), Out()).Run());
  EXPECT_EQ(test::ModeOf(Out() / "source/d"), 0500u);
  chmod((Source() / "d").c_str(), 0700);
  WriteFile(Source() / "d/new", "x");
  chmod((Source() / "d").c_str(), 0500);
  chmod(folder_.path().c_str(), 0755);
  Pair again(Source(), Out());
  ASSERT_TRUE(again.Run());
  EXPECT_TRUE(again.received_problems.empty());
  ExpectSameTree();
}

TEST_F(TransferTest, ResumesAfterAKilledLane) {
  const uint64_t size = 40 * core::kChunkBytes + 11;
  WriteFile(Source() / "large", Content(size));
  {
    Pair cut(Source(), Out(), {.send_budget = std::make_shared<RateBudget>(20 << 20)});
    cut.Open();
    ASSERT_TRUE(cut.RunUntil([&] {
      std::this_thread::yield();
      return cut.receiver->progress().bytes >= 4 * core::kChunkBytes;
    }));
    cut.sender->Stop();
    ASSERT_TRUE(cut.RunUntil([&] { return cut.lanes_ended.size() == 1; }));
    const Code code = cut.lanes_ended[0].status.code;
    EXPECT_TRUE(code == Code::kSessionLost || code == Code::kFrameTruncated);
  }
  EXPECT_TRUE(test::fs::exists(Out() / ".keibidrop-partial"));
  EXPECT_FALSE(test::fs::exists(Out() / "source/large"));
  Pair resumed(Source(), Out(), {.lanes = 4});
  ASSERT_TRUE(resumed.Run());
  EXPECT_GE(resumed.receiver->progress().resumed_bytes, 4 * core::kChunkBytes);
  EXPECT_EQ(resumed.receiver->progress().bytes, size);
  resumed.receiver->Stop();
  ExpectSameTree();
  EXPECT_FALSE(test::fs::exists(Out() / ".keibidrop-partial"));
}

TEST_F(TransferTest, StartsAFileOverThatChangedSinceItWasInterrupted) {
  WriteFile(Source() / "large", Content(30 * core::kChunkBytes, 1));
  {
    Pair cut(Source(), Out(), {.send_budget = std::make_shared<RateBudget>(20 << 20)});
    cut.Open();
    ASSERT_TRUE(cut.RunUntil([&] { return cut.receiver->progress().bytes > 0; }));
  }
  WriteFile(Source() / "large", Content(30 * core::kChunkBytes, 2));
  test::SetMtime(Source() / "large", 1'000);
  Pair again(Source(), Out());
  ASSERT_TRUE(again.Run());
  EXPECT_EQ(again.restarted.size(), 1u);
  EXPECT_EQ(again.receiver->progress().resumed_bytes, 0u);
  ExpectSameTree();
}

TEST_F(TransferTest, PlacesNothingOfAFileThatChangesWhileItIsSent) {
  WriteFile(Source() / "large", Content(30 * core::kChunkBytes));
  WriteFile(Source() / "other", "x");
  Pair pair(Source(), Out(), {.lanes = 2, .send_budget = std::make_shared<RateBudget>(20 << 20)});
  pair.Open();
  ASSERT_TRUE(pair.RunUntil([&] { return pair.receiver->progress().bytes > 3 * core::kChunkBytes; }));
  test::SetMtime(Source() / "large", 7);
  ASSERT_TRUE(pair.RunUntil([&] { return !pair.sent_problems.empty(); }));
  EXPECT_EQ(pair.sent_problems[0].status.code, Code::kSourceChanged);
  EXPECT_EQ(pair.sent_problems.size(), 1u);
  pair.receiver->Stop();
  EXPECT_FALSE(test::fs::exists(Out() / "source/large"));
  EXPECT_TRUE(test::fs::exists(Out() / "source/other"));
  EXPECT_FALSE(test::fs::exists(Out() / ".keibidrop-partial"));
}

TEST_F(TransferTest, CompletesWithoutWhatCannotBeRead) {
  WriteFile(Source() / "gone", "x");
  WriteFile(Source() / "stays", "x");
  Pair pair(Source(), Out());
  pair.Open();
  // The walk is over, but the answer is not yet given.
  send::SendNews news;
  while (!news.walked) {
    send::SendNews more = pair.sender->TakeNews();
    for (auto& page : more.pages) news.pages.push_back(page);
    news.walked = more.walked;
  }
  test::fs::remove(Source() / "gone");
  for (const auto& page : news.pages) {
    ReceivePlan plan;
    ASSERT_TRUE(pair.receiver->Plan(page.first, page.count, page.bytes, page.size, &plan).ok());
    ASSERT_TRUE(pair.sender->Answer(page.first, page.count, plan.wanted.data(), plan.wanted.size(), {}).ok());
  }
  pair.receiver->EndOfPages();
  ASSERT_TRUE(pair.RunUntil([&] { return !pair.sent_problems.empty() && pair.placed == 1; }));
  EXPECT_EQ(pair.sent_problems[0].status.code, Code::kSourceMissing);
  EXPECT_EQ(pair.sent_problems[0].path, "source/gone");
}

TEST_F(TransferTest, StopsAtOnceInTheMiddleFromEitherSideAndTwiceAtOnce) {
  WriteFile(Source() / "large", Content(50 * core::kChunkBytes));
  for (const bool sender_first : {true, false}) {
    Pair pair(Source(), Out(),
              {.lanes = 4,
               .send_budget = std::make_shared<RateBudget>(5 << 20),
               .receive_budget = std::make_shared<RateBudget>(5 << 20)});
    pair.Open();
    ASSERT_TRUE(pair.RunUntil([&] { return pair.receiver->progress().bytes > 0; }));
    const auto begin = std::chrono::steady_clock::now();
    std::thread twice([&] { pair.receiver->Stop(); });
    if (sender_first) pair.sender->Stop();
    pair.receiver->Stop();
    pair.sender->Stop();
    twice.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
    EXPECT_FALSE(test::fs::exists(Out() / "source/large"));
    pair.sender->Start();  // too late: nothing starts
  }
}

TEST_F(TransferTest, StopsWhileALaneDialsASilentAddress) {
  Pair pair(Source(), Out());
  ASSERT_TRUE(pair.receiver->Open().ok());
  // A listening socket with a full queue answers no further connection.
  const core::Fd full(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(full.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(full.get(), 0), 0);
  getsockname(full.get(), reinterpret_cast<sockaddr*>(&address), &length);
  std::vector<core::Fd> waiting;
  for (int i = 0; i < 4; i++) {
    waiting.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)connect(waiting.back().get(), reinterpret_cast<sockaddr*>(&address), length);
  }
  core::Status dialled;
  std::thread dialling([&] {
    dialled = pair.receiver->lanes().Add("127.0.0.1", ntohs(address.sin_port), 0, pair.Session(frame::Role::kInitiator),
                                         std::nullopt);
  });
  const auto begin = std::chrono::steady_clock::now();
  pair.receiver->Stop();
  dialling.join();
  EXPECT_EQ(dialled.code, Code::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST_F(TransferTest, LeavesNoDescriptorOpen) {
  MakeTree();
  ASSERT_TRUE(Pair(Source(), folder_ / "first").Run());
  const size_t before = test::OpenDescriptors();
  ASSERT_TRUE(Pair(Source(), Out(), {.lanes = 4}).Run());
  EXPECT_EQ(test::OpenDescriptors(), before);
}

}  // namespace
}  // namespace keibi::receive
