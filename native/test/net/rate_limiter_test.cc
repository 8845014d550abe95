// SPDX-License-Identifier: MPL-2.0
#include "net/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/limits.h"
#include "receive/transfer_pair.h"

namespace keibi::net {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr uint64_t kMegabyte = 1'000'000;

// Advances when a lane waits, or when a test calls Advance.
class TestClock : public RateClock {
 public:
  Time Now() override { return Time(nanoseconds(now_.load())); }
  void Wait(std::condition_variable*, std::unique_lock<std::mutex>*, Time until) override {
    const int64_t target = nanoseconds(until.time_since_epoch()).count();
    int64_t now = now_.load();
    while (now < target && !now_.compare_exchange_weak(now, target)) {
    }
  }
  void Advance(nanoseconds by) { now_ += by.count(); }
  double Seconds() const { return static_cast<double>(now_.load()) / 1e9; }

 private:
  std::atomic<int64_t> now_ = 0;
};

// Passes bytes like a lane.
void PassAll(RateLimiter* limiter, size_t bytes) {
  while (bytes > 0) {
    const size_t slice = limiter->Slice(bytes);
    limiter->Pass(slice);
    bytes -= slice;
  }
}

class RateTest : public ::testing::Test {
 protected:
  std::shared_ptr<RateBudget> Budget(uint64_t rate) { return std::make_shared<RateBudget>(rate, clock_); }

  std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
};

TEST_F(RateTest, LetsARatePassFromTheFirstByteOn) {
  for (const uint64_t rate : {100'000ull, 5'000'000ull, 200'000'000ull, 20'000'000'000ull}) {
    const double began = clock_->Seconds();
    RateLimiter limiter(Budget(rate));
    PassAll(&limiter, 10 * rate);
    // The last slice's time has not passed yet.
    EXPECT_NEAR(clock_->Seconds() - began, 10, 0.06) << rate;
  }
}

TEST_F(RateTest, GivesSlicesThatKeepASmallRateEven) {
  EXPECT_EQ(Budget(100'000)->Slice(1 << 20), 5000u);
  EXPECT_EQ(Budget(20 * kMegabyte)->Slice(1 << 20), kMegabyte);
  EXPECT_EQ(Budget(10)->Slice(1 << 20), 1024u);  // not one byte per packet
  EXPECT_EQ(Budget(100'000)->Slice(17), 17u);
  EXPECT_EQ(Budget(0)->Slice(1 << 20), size_t{1} << 20);
}

TEST_F(RateTest, IsKeptTogetherByAllThatShareIt) {
  const auto budget = Budget(10 * kMegabyte);
  std::vector<std::thread> lanes;
  for (int i = 0; i < 8; i++) {
    lanes.emplace_back([budget] {
      RateLimiter limiter(budget);
      PassAll(&limiter, 10 * kMegabyte);
    });
  }
  for (std::thread& lane : lanes) lane.join();
  EXPECT_NEAR(clock_->Seconds(), 8, 0.06);
}

TEST_F(RateTest, KeepsTheRateOnAverageWhenLanesComeLate) {
  RateLimiter limiter(Budget(kMegabyte));
  for (int slice = 0; slice < 200; slice++) {
    limiter.Pass(kMegabyte / 20);
    clock_->Advance(milliseconds(slice % 4 == 0 ? 90 : 10));  // a slow disk, a long sleep
  }
  EXPECT_NEAR(clock_->Seconds(), 10, 0.1);
}

TEST_F(RateTest, DoesNotMakeUpForIdleTime) {
  RateLimiter limiter(Budget(kMegabyte));
  limiter.Pass(1);
  clock_->Advance(seconds(60));
  const double before = clock_->Seconds();
  PassAll(&limiter, 10 * kMegabyte);
  EXPECT_NEAR(clock_->Seconds() - before, 10, 0.16);
}

TEST_F(RateTest, LetsEverythingPassWithoutALimit) {
  RateLimiter none(nullptr), zero(Budget(0));
  for (RateLimiter* limiter : {&none, &zero}) PassAll(limiter, size_t{1} << 40);
  EXPECT_EQ(clock_->Seconds(), 0);
}

// Releases a budget after a lane has waited for it a few times.
class LettingGo : public TestClock {
 public:
  void Wait(std::condition_variable* changed, std::unique_lock<std::mutex>* lock, Time until) override {
    TestClock::Wait(changed, lock, until);
    if (++waits == 3) budget->Hold(false);
  }
  RateBudget* budget = nullptr;
  int waits = 0;
};

TEST(RateLimiter, WaitsWhileTheBudgetIsHeldWithALimitOrWithout) {
  for (const uint64_t rate : {uint64_t{0}, 1'000 * kMegabyte}) {
    const auto clock = std::make_shared<LettingGo>();
    const auto budget = std::make_shared<RateBudget>(rate, clock);
    clock->budget = budget.get();
    RateLimiter limiter(budget);
    limiter.Pass(1);
    EXPECT_EQ(clock->waits, 0);
    budget->Hold(true);
    limiter.Pass(1);
    EXPECT_EQ(clock->waits, 3);
    limiter.Pass(1);
    EXPECT_EQ(clock->waits, 3);
  }
}

TEST(RateLimiter, StopsWhileTheBudgetIsHeld) {
  const auto budget = std::make_shared<RateBudget>(0);
  budget->Hold(true);
  RateLimiter limiter(budget);
  std::thread lane([&] { limiter.Pass(1); });
  limiter.Stop();
  lane.join();
}

TEST(RateLimiter, StopsInTheMiddleOfALongWait) {
  RateLimiter limiter(std::make_shared<RateBudget>(1));
  limiter.Pass(1'000'000);
  std::thread waiting([&] { limiter.Pass(1); });  // would take eleven days
  limiter.Stop();
  waiting.join();
  limiter.Pass(1);
}

TEST_F(RateTest, HoldsBothSidesOfATransferOverAllLanes) {
  test::Folder folder;
  test::fs::create_directory(folder / "source");
  test::WriteFile(folder / "source/large", test::Content(20 * core::kChunkBytes));
  for (const bool sending : {true, false}) {
    const double before = clock_->Seconds();
    const auto budget = Budget(10 * core::kChunkBytes);
    test::Pair pair(
        folder / "source", folder / (sending ? "sent" : "received"),
        {.lanes = 4, .send_budget = sending ? budget : nullptr, .receive_budget = sending ? nullptr : budget});
    ASSERT_TRUE(pair.Run());
    EXPECT_NEAR(clock_->Seconds() - before, 2, 0.06);
  }
}

}  // namespace
}  // namespace keibi::net
