// SPDX-License-Identifier: MPL-2.0
#include "remote/block_signal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/fd.h"
#include "disk_tree.h"

namespace keibi::remote {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class BlockSignalTest : public testing::Test {
 protected:
  BlockSignalTest() : directory_(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY)) {}

  std::shared_ptr<BlockSignal> Make() {
    std::shared_ptr<BlockSignal> signal;
    EXPECT_TRUE(BlockSignal::Make(directory_.get(), &signal).ok());
    return signal;
  }

  const test::Folder folder_;
  const core::Fd directory_;
};

TEST_F(BlockSignalTest, IsHeardByWhoHasListenedBefore) {
  std::shared_ptr<BlockSignal> peer;
  EXPECT_FALSE(BlockSignal::Take(directory_.get(), &peer).ok());
  const std::shared_ptr<BlockSignal> host = Make();
  ASSERT_TRUE(BlockSignal::Take(directory_.get(), &peer).ok());

  const uint32_t since = host->Listen();
  peer->Notify();
  const auto begun = Clock::now();
  host->Wait(since, 120s);
  EXPECT_LT(Clock::now() - begun, 60s);

  std::thread ringing([&] {
    std::this_thread::sleep_for(50ms);
    peer->Notify();
  });
  host->Wait(host->Listen(), 120s);
  EXPECT_LT(Clock::now() - begun, 60s);
  ringing.join();
}

TEST_F(BlockSignalTest, MovesWhenTheCacheIsRecreated) {
  const std::shared_ptr<BlockSignal> before = Make();
  EXPECT_TRUE(before->IsIn(directory_.get()));
  ASSERT_EQ(unlinkat(directory_.get(), "block-signal", 0), 0);
  EXPECT_FALSE(before->IsIn(directory_.get()));
  const std::shared_ptr<BlockSignal> after = Make();
  EXPECT_FALSE(before->IsIn(directory_.get()));
  EXPECT_TRUE(after->IsIn(directory_.get()));
}

TEST_F(BlockSignalTest, WaitsNoLongerThanAllowed) {
  const std::shared_ptr<BlockSignal> host = Make();
  const auto begun = Clock::now();
  host->Wait(host->Listen(), 20ms);
  EXPECT_GE(Clock::now() - begun, 10ms);
  EXPECT_LT(Clock::now() - begun, 60s);
}

TEST_F(BlockSignalTest, IsHeardInAnotherProcess) {
  const std::shared_ptr<BlockSignal> host = Make();
  const uint32_t since = host->Listen();
  const pid_t child = fork();
  if (child == 0) {
    std::shared_ptr<BlockSignal> peer;
    const bool taken = BlockSignal::Take(directory_.get(), &peer).ok();
    usleep(50'000);
    if (taken) peer->Notify();
    _exit(taken ? 0 : 1);
  }
  const auto begun = Clock::now();
  host->Wait(since, 120s);
  EXPECT_LT(Clock::now() - begun, 60s);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace keibi::remote
