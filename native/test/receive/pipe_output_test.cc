// SPDX-License-Identifier: MPL-2.0
#include "receive/pipe_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "core/fd.h"

namespace keibi::receive {
namespace {

using core::Code;
using State = ReceiveLedger::State;

class PipeOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read_ = core::Fd(ends[0]);
    write_ = core::Fd(ends[1]);
    ledger_.Resize(2);
    ledger_.Want(0);
    ledger_.Want(1);
    output_.emplace(write_.get(), &ledger_, stopped_);
  }

  static manifest::Entry FileOf(uint64_t size) {
    manifest::Entry entry;
    entry.type = manifest::EntryType::kFile;
    entry.size = size;
    entry.sparse = true;
    return entry;
  }
  Code Append(uint32_t index, uint64_t offset, const std::string& bytes, uint64_t size) {
    const manifest::Segment segment{index, 0, offset, static_cast<uint32_t>(bytes.size()),
                                    reinterpret_cast<const uint8_t*>(bytes.data())};
    return output_->Append(segment, FileOf(size)).code;
  }
  std::string ReadSome() const {
    std::string bytes(4096, '\0');
    const ssize_t got = read(read_.get(), bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }

  core::Fd read_, write_;
  std::atomic<bool> stopped_ = false;
  ReceiveLedger ledger_{true, [] {}};
  std::optional<PipeOutput> output_;
};

TEST_F(PipeOutputTest, WritesFilesOneAfterAnother) {
  ASSERT_EQ(Append(0, 0, "abc", 3), Code::kOk);
  EXPECT_EQ(ledger_.StateOf(0), State::kDone);
  ASSERT_EQ(Append(1, 0, "de", 2), Code::kOk);
  EXPECT_EQ(ReadSome(), "abcde");
  EXPECT_EQ(ledger_.progress().placed_bytes, 5u);
}

TEST_F(PipeOutputTest, WritesAHoleAsZeros) {
  ASSERT_EQ(output_->Append({0, manifest::kHole, 0, 1}, FileOf(5)).code, Code::kOk);
  EXPECT_EQ(ReadSome(), std::string(5, '\0'));
  EXPECT_EQ(ledger_.StateOf(0), State::kDone);
}

TEST_F(PipeOutputTest, RefusesBytesOutOfOrder) {
  EXPECT_EQ(Append(0, 1, "bc", 3), Code::kSizeMismatch);
  ASSERT_EQ(Append(0, 0, "a", 3), Code::kOk);
  EXPECT_EQ(Append(0, 0, "a", 3), Code::kSizeMismatch);
  EXPECT_EQ(Append(1, 0, "d", 1), Code::kSizeMismatch) << "the file before it is not whole";
}

TEST_F(PipeOutputTest, EndsWhenTheJobStopsWhileThePipeIsFull) {
  const std::string much(size_t{1} << 20, 'x');  // more than a pipe holds
  auto writing = std::async(std::launch::async, [&] { return Append(0, 0, much, much.size()); });
  stopped_ = true;
  ASSERT_EQ(writing.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(writing.get(), Code::kCancelled);
}

}  // namespace
}  // namespace keibi::receive
