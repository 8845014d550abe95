// SPDX-License-Identifier: MPL-2.0
#include <gtest/gtest.h>

#include <cerrno>

#include "bench/cipher.h"
#include "bench/disk.h"
#include "bench/network.h"
#include "core/limits.h"
#include "core/synthetic_data.h"
#include "receive/transfer_pair.h"

namespace keibi::bench {
namespace {

using core::Code;
using std::chrono::milliseconds;
using test::Folder;

constexpr uint64_t kSomeBytes = 2 * core::kChunkBytes + 7;

class BenchTest : public testing::Test {
 protected:
  Folder folder_;
  std::atomic<bool> going_ = false, stopped_ = true;  // the flags that a measurement checks
  double figure_ = -1;
};

TEST_F(BenchTest, NoiseIsTheSameForTheSameOffsetOnly) {
  std::vector<uint8_t> one(core::kChunkBytes), again(core::kChunkBytes), other(core::kChunkBytes);
  core::FillWithSyntheticData(0, one.data(), one.size());
  core::FillWithSyntheticData(0, again.data(), again.size());
  core::FillWithSyntheticData(core::kChunkBytes, other.data(), other.size());
  EXPECT_EQ(one, again);
  EXPECT_NE(one, other);
  std::vector<int> counts(256);
  for (const uint8_t byte : one) counts[byte]++;
  for (const int count : counts) EXPECT_NEAR(count, 4096, 512);
}

TEST_F(BenchTest, WritesAFileOfItsOwnAndReadsIt) {
  const std::string path = folder_ / "f";
  ASSERT_TRUE(WriteToDisk(path, kSomeBytes, going_, &figure_).ok());
  EXPECT_GT(figure_, 0);
  DiskRead read;
  ASSERT_TRUE(ReadFromDisk(path, going_, &read).ok());
  EXPECT_EQ(read.bytes, kSomeBytes);
  EXPECT_GT(read.seconds, 0);
  EXPECT_TRUE(FlushToDisk(path, &figure_).ok());
  const auto again = WriteToDisk(path, 1, going_, &figure_);
  EXPECT_EQ(again.code, Code::kDestinationUnusable);
  EXPECT_EQ(again.system_error, EEXIST);
}

TEST_F(BenchTest, MeasuresBothSuitesAndTheDigest) {
  for (const auto suite : {aead::Suite::kAes256Gcm, aead::Suite::kChaCha20Poly1305}) {
    SuiteSpeed speed;
    ASSERT_TRUE(MeasureSuite(suite, milliseconds(1), going_, &speed).ok());
    EXPECT_GT(speed.seal, 0);
    EXPECT_GT(speed.open, 0);
  }
  ASSERT_TRUE(MeasureSha256(milliseconds(1), going_, &figure_).ok());
  EXPECT_GT(figure_, 0);
}

TEST_F(BenchTest, MovesEveryByteOverLoopback) {
  ASSERT_TRUE(MeasureLoopback(kSomeBytes, going_, &figure_).ok());
  EXPECT_GT(figure_, 0);
}

TEST_F(BenchTest, ARoundTripNeedsAListener) {
  std::shared_ptr<net::Listener> listener;
  ASSERT_TRUE(net::Listener::Open(
                  {.host = "127.0.0.1"}, [](net::Incoming) {}, &listener)
                  .ok());
  const uint16_t port = listener->port();
  EXPECT_TRUE(MeasureRoundTrip("127.0.0.1", port, going_, &figure_).ok());
  EXPECT_GT(figure_, 0);
  listener->Stop();
  EXPECT_EQ(MeasureRoundTrip("127.0.0.1", port, going_, &figure_).code, Code::kPeerUnreachable);
}

TEST_F(BenchTest, EndsWhenStopped) {
  SuiteSpeed speed;
  DiskRead read;
  const std::string path = folder_ / "f";
  EXPECT_EQ(WriteToDisk(path, kSomeBytes, stopped_, &figure_).code, Code::kCancelled);
  EXPECT_EQ(ReadFromDisk(path, stopped_, &read).code, Code::kCancelled);
  EXPECT_EQ(MeasureSuite(aead::Suite::kAes256Gcm, milliseconds(1), stopped_, &speed).code, Code::kCancelled);
  EXPECT_EQ(MeasureSha256(milliseconds(1), stopped_, &figure_).code, Code::kCancelled);
  EXPECT_EQ(MeasureLoopback(kSomeBytes, stopped_, &figure_).code, Code::kCancelled);
}

class GeneratedTest : public testing::TestWithParam<uint32_t> {};

// Over real lanes: one generated file that the receiver keeps, and one that it only counts.
TEST_P(GeneratedTest, IsSentAndKeptOrCounted) {
  Folder folder;
  test::PairOptions options;
  options.lanes = GetParam();
  options.generated = {{"", "counted", kSomeBytes}, {"", "kept", kSomeBytes}};
  options.discard = 0;
  test::Pair pair(folder / "none", folder / "out", options);
  ASSERT_TRUE(pair.Run());
  EXPECT_TRUE(pair.sent_problems.empty() && pair.received_problems.empty());
  EXPECT_EQ(pair.placed, 2U);
  const receive::ReceiveProgress progress = pair.receiver->progress();
  EXPECT_EQ(progress.bytes, 2 * kSomeBytes);
  EXPECT_EQ(progress.placed_bytes, 2 * kSomeBytes);
  EXPECT_FALSE(test::fs::exists(folder.path() / "out" / "counted"));
  std::string expected(kSomeBytes, '\0');
  for (uint64_t offset = 0; offset < kSomeBytes; offset += core::kChunkBytes) {
    core::FillWithSyntheticData(offset, reinterpret_cast<uint8_t*>(expected.data()) + offset,
                                std::min<uint64_t>(core::kChunkBytes, kSomeBytes - offset));
  }
  EXPECT_EQ(test::ReadFile(folder.path() / "out" / "kept"), expected);
}

INSTANTIATE_TEST_SUITE_P(Lanes, GeneratedTest, testing::Values(1, 3));

}  // namespace
}  // namespace keibi::bench
