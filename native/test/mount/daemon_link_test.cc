// SPDX-License-Identifier: MPL-2.0
#include "mount/daemon_link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <thread>

#include "mount/read_ahead.h"

namespace keibi::mount {
namespace {

using std::chrono::milliseconds;

// A running link, and the daemon's end of it.
class DaemonLinkTest : public testing::Test {
 protected:
  void Begin(milliseconds patience) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    peer_ = core::Fd(pair[0]);
    link_.emplace(pair[1], patience);
    thread_ = std::thread([this] {
      link_->Run([this](Type type, Reader body) {
        heard_type_ = static_cast<int>(type);
        heard_ = body.Number<uint8_t>();
      });
      ended_ = true;
    });
  }
  ~DaemonLinkTest() override {
    peer_.Close();
    if (thread_.joinable()) thread_.join();
  }

  // One request and its result.
  struct Asked {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<int> error;
    uint32_t number = 0;
    size_t page_bytes = 0;

    int Wait() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return error.has_value(); });
      return *error;
    }
  };
  void Ask(Asked* asked) {
    DaemonLink::Answer answer;
    answer.on_page = [asked](const uint8_t*, size_t length) { asked->page_bytes += length; };
    answer.on_done = [asked](int error, Reader body) {
      const std::scoped_lock lock(asked->mutex);
      asked->number = body.Number<uint32_t>();
      asked->error = error;
      asked->changed.notify_all();
    };
    Writer path;
    link_->Ask(Type::kList, path.Rest("p"), std::move(answer));
  }

  void Say(const std::vector<uint8_t>& bytes) {
    ASSERT_EQ(send(peer_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  static std::vector<uint8_t> Message(Type type, uint32_t request, const Writer& body) {
    Writer all;
    all.Number(static_cast<uint32_t>(5 + body.bytes().size())).Number(static_cast<uint8_t>(type)).Number(request);
    all.Rest({reinterpret_cast<const char*>(body.bytes().data()), body.bytes().size()});
    return all.bytes();
  }
  std::string Hear(size_t bytes) {
    std::string heard(bytes, '\0');
    EXPECT_EQ(recv(peer_.get(), heard.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    return heard;
  }

  core::Fd peer_;
  std::optional<DaemonLink> link_;
  std::thread thread_;
  std::atomic<int> heard_type_{0}, heard_{0};
  std::atomic<bool> ended_{false};
};

TEST_F(DaemonLinkTest, AQuestionGetsItsAnswer) {
  Begin(milliseconds(60'000));
  Asked asked;
  Ask(&asked);
  EXPECT_EQ(Hear(10), std::string("\0\0\0\6\3\0\0\0\1p", 10));
  Writer page, done;
  Say(Message(Type::kPage, 1, page.Rest("abc")));
  // An answer to an unknown request, cut into bytes.
  std::vector<uint8_t> answer = Message(Type::kDone, 7, Writer());
  const std::vector<uint8_t> own = Message(Type::kDone, 1, done.Number(uint32_t{5}).Number(uint32_t{9}));
  answer = Message(Type::kDone, 7, Writer().Number(uint32_t{1}));
  answer.insert(answer.end(), own.begin(), own.end());
  for (const uint8_t byte : answer) Say({byte});
  EXPECT_EQ(asked.Wait(), 5);
  EXPECT_EQ(asked.number, 9U);
  EXPECT_EQ(asked.page_bytes, 3U);
}

TEST_F(DaemonLinkTest, APeerThatSaysNothingIsNotWaitedForLongerThanPatience) {
  Begin(milliseconds(50));
  Asked asked;
  Ask(&asked);
  EXPECT_EQ(asked.Wait(), ETIMEDOUT);
  // A late answer belongs to no request.
  Say(Message(Type::kDone, 1, Writer().Number(uint32_t{0})));
  Say(Message(Type::kAway, 0, Writer().Number(uint8_t{1})));
  while (heard_ != 1) std::this_thread::yield();
  EXPECT_EQ(heard_type_, static_cast<int>(Type::kAway));
}

TEST_F(DaemonLinkTest, WhenThePeerGoesEveryQuestionEnds) {
  Begin(milliseconds(60'000));
  Asked asked, later;
  Ask(&asked);
  peer_.Close();
  EXPECT_EQ(asked.Wait(), ENOTCONN);
  while (!ended_) std::this_thread::yield();
  Ask(&later);
  EXPECT_EQ(later.Wait(), ENOTCONN);
}

TEST_F(DaemonLinkTest, APeerThatBreaksTheRulesIsOneThatHasGone) {
  for (const std::vector<uint8_t>& bytes :
       {std::vector<uint8_t>{0, 0, 0, 1, 0, 0, 0, 0, 0}, std::vector<uint8_t>{255, 255, 255, 255, 0, 0, 0, 0, 0},
        std::vector<uint8_t>{0, 0, 0, 5, 0x81, 0, 0, 0, 1}}) {
    Begin(milliseconds(60'000));
    Asked asked;
    Ask(&asked);
    Say(bytes);
    EXPECT_EQ(asked.Wait(), ENOTCONN);
    thread_.join();
  }
}

TEST_F(DaemonLinkTest, OnceThePeerSaysNothingTheNextQuestionIsNotWaitedForAsLongAgain) {
  Begin(milliseconds(3000));
  Asked first, next, away, back;
  Ask(&first);
  EXPECT_EQ(first.Wait(), ETIMEDOUT);
  const auto began = std::chrono::steady_clock::now();
  Ask(&next);
  EXPECT_EQ(next.Wait(), ETIMEDOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(2500));
  // An answer counts, however late.
  Say(Message(Type::kDone, 2, Writer().Number(uint32_t{0})));
  Asked heard;
  Say(Message(Type::kAway, 0, Writer().Number(uint8_t{1})));
  while (heard_ != 1) std::this_thread::yield();
  Ask(&heard);
  Say(Message(Type::kDone, 3, Writer().Number(uint32_t{0})));
  EXPECT_EQ(heard.Wait(), 0);
  // While the daemon is known to be away, no request is sent.
  link_->SetAway(true);
  std::this_thread::sleep_for(milliseconds(600));  // more than a sixth of the patience
  Ask(&away);
  EXPECT_TRUE(away.error.has_value());
  EXPECT_EQ(Hear(30).back(), 'p');
  link_->SetAway(false);
  Ask(&back);
  EXPECT_EQ(Hear(10), std::string("\0\0\0\6\3\0\0\0\4p", 10));
  Say(Message(Type::kDone, 4, Writer().Number(uint32_t{0})));
  EXPECT_EQ(back.Wait(), 0);
}

TEST(MountSilence, HasOneBoundForAllThatIsAskedMeanwhile) {
  using std::chrono::seconds;
  const Silence::Time start{seconds(1000)};
  const auto at = [&](int s) { return start + seconds(s); };
  Silence silence(seconds(30));
  EXPECT_EQ(silence.Left(at(0)), seconds(30));
  // Requested at 0, and the session is found lost at 15: a later request gets the remaining time.
  silence.Lost(at(15), at(0));
  EXPECT_EQ(silence.Left(at(16)), seconds(14));
  EXPECT_EQ(silence.Left(at(20)), seconds(0)) << "it is known to be away";
  EXPECT_EQ(silence.Left(at(90)), seconds(0));
  silence.Back(at(100));
  EXPECT_EQ(silence.Left(at(100)), seconds(30));
  // A request made before other messages arrived is late by itself.
  silence.Heard(at(120));
  silence.TimedOut(at(110));
  EXPECT_EQ(silence.Left(at(140)), seconds(30));
  silence.TimedOut(at(121));
  EXPECT_EQ(silence.Left(at(151)), seconds(1));
  silence.Heard(at(152));
  EXPECT_EQ(silence.Left(at(152)), seconds(30));
  // With no pending request, the silence begins with the loss.
  silence.Lost(at(200), std::nullopt);
  EXPECT_EQ(silence.Left(at(202)), seconds(28));
}

// A daemon that reads nothing does not block callers: they do not wait, and the unsent data does not grow for ever.
TEST_F(DaemonLinkTest, APeerThatReadsNothingBlocksNoOtherCaller) {
  Begin(milliseconds(50));
  Writer large;
  large.Rest(std::string(100'000, 'x'));
  for (int i = 0; i < 1000; i++) link_->Notify(Type::kLost, large);
  Asked asked;
  Ask(&asked);
  EXPECT_EQ(asked.Wait(), ETIMEDOUT);
}

TEST(MountReadAhead, GrowsWithWhoReadsOnUpToTheMost) {
  ReadAhead ahead;
  constexpr uint32_t kBlocks = 100'000, kMost = 256;
  uint32_t asked = 0, longest = 0;
  for (uint32_t at = 0; at < 10'000; at += 16) {
    const auto plan = ahead.Next(at, at + 16, kBlocks, kMost);
    if (plan.count == 0) continue;
    EXPECT_GE(plan.from, at + 16);
    EXPECT_GE(plan.from, asked);
    asked = plan.from + plan.count;
    longest = std::max(longest, asked - at - 16);
    EXPECT_LE(asked, at + 16 + kMost);
  }
  EXPECT_EQ(longest, kMost);
  EXPECT_GE(asked, 10'000U + kMost / 2);
}

TEST(MountReadAhead, IsEarnedByWhatWasReadInOrder) {
  ReadAhead ahead;
  constexpr uint32_t kBlocks = 100'000, kMost = 1024;
  // The kernel's requests when a program reads 64 KiB, in various pieces.
  for (const auto& [first, end] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 4U}}) {
    EXPECT_EQ(ahead.Next(first, end, kBlocks, kMost).count, 0U);
    EXPECT_EQ(ahead.Next(first, end, kBlocks, kMost).count, 0U) << "it was not there, and is read again";
  }
  std::vector<uint32_t> windows;
  for (uint32_t at = 4; at < 1024; at += 4) {
    const auto plan = ahead.Next(at, at + 4, kBlocks, kMost);
    if (plan.count > 0) windows.push_back(plan.from + plan.count - at - 4);
    EXPECT_LE(plan.count == 0 ? 0 : plan.from + plan.count, 2 * (at + 4)) << "no more than was read";
  }
  ASSERT_GE(windows.size(), 4U);
  EXPECT_EQ(windows[0], 2U);
  EXPECT_EQ(windows[1], 4U);
  EXPECT_EQ(windows[2], 8U);
}

TEST(MountReadAhead, GivesNothingToWhoReadsHereAndThere) {
  ReadAhead ahead;
  uint32_t count = 0;
  for (uint32_t at = 0; at < 5000; at += 16) count += ahead.Next(at, at + 2, 100'000, 1024).count;
  EXPECT_EQ(count, 0U);
}

TEST(MountReadAhead, ASmallFileIsAskedForAsAWhole) {
  ReadAhead ahead;
  const auto plan = ahead.Next(0, 1, 4, 256);
  EXPECT_EQ(plan.from, 1U);
  EXPECT_EQ(plan.count, 3U);
  ReadAhead other;
  EXPECT_EQ(other.Next(0, 1, 5, 256).count, 0U);
}

TEST(MountReadAhead, AsksNothingForWhoJumpsAndNothingBehindTheEnd) {
  ReadAhead ahead;
  EXPECT_EQ(ahead.Next(5000, 5001, 10'000, 256).count, 0U);
  EXPECT_EQ(ahead.Next(100, 101, 10'000, 256).count, 0U);
  EXPECT_EQ(ahead.Next(9000, 9004, 10'000, 256).count, 0U);
  const auto plan = ahead.Next(9004, 9018, 9019, 256);
  EXPECT_EQ(plan.from, 9018U);
  EXPECT_EQ(plan.count, 1U);
  EXPECT_FALSE(plan.left);
  EXPECT_EQ(ahead.Next(9018, 9019, 9019, 256).count, 0U);
}

TEST(MountReadAhead, KnowsWhatItHasAskedForAndWhatHasNotCome) {
  ReadAhead ahead;
  constexpr uint32_t kBlocks = 100'000, kMost = 256;
  EXPECT_FALSE(ahead.Asked(0, 16));
  EXPECT_EQ(ahead.Next(0, 16, kBlocks, kMost).count, 0U);
  EXPECT_EQ(ahead.Next(16, 32, kBlocks, kMost).count, 2U);
  EXPECT_TRUE(ahead.Asked(32, 34));
  EXPECT_FALSE(ahead.Asked(32, 35));
  ahead.Missed(32);
  EXPECT_FALSE(ahead.Asked(32, 34));
  const auto again = ahead.Next(32, 34, kBlocks, kMost);
  EXPECT_EQ(again.from, 34U);
  EXPECT_GT(again.count, 0U);
  // After a jump, only the blocks at the new place count as requested.
  EXPECT_TRUE(ahead.Next(5000, 5016, kBlocks, kMost).left);
  ahead.Next(5016, 5032, kBlocks, kMost);
  EXPECT_TRUE(ahead.Asked(5032, 5034));
  EXPECT_FALSE(ahead.Asked(4990, 5000));
}

TEST(MountReadAhead, OneRequestThatIsLateEndsNoWindow) {
  ReadAhead ahead;
  constexpr uint32_t kBlocks = 100'000, kMost = 256;
  for (uint32_t at = 0; at < 1600; at += 16) {
    if (at != 1440) ahead.Next(at, at + 16, kBlocks, kMost);
  }
  EXPECT_TRUE(ahead.Asked(1600, 1616));
  ahead.Next(1440, 1456, kBlocks, kMost);
  EXPECT_TRUE(ahead.Asked(1600, 1616));
}

TEST(MountReadAhead, RequestsOfTheKernelThatComeOutOfOrderAreOneReader) {
  ReadAhead ahead;
  uint32_t count = 0;
  for (const uint32_t at : {16U, 0U, 48U, 32U, 80U, 64U}) count += ahead.Next(at, at + 16, 100'000, 256).count;
  EXPECT_GT(count, 0U);
}

}  // namespace
}  // namespace keibi::mount
