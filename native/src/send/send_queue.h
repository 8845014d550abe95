// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "manifest/bitmap.h"
#include "manifest/entry_table.h"
#include "send/source.h"

namespace keibi::send {

// The next work of a lane.
struct SendWork {
  enum class Kind { kChunk, kPack, kStream, kEnd };
  Kind kind = Kind::kEnd;
  std::shared_ptr<SourceFile> file = nullptr;  // kChunk
  uint32_t chunk = 0;                          // kChunk
  std::vector<uint32_t> pack = {};  // kPack: files of up to a chunk that fit one frame; kStream: the one entry
};

// The wanted entries in the order of the requests, handed out in pieces to any number of lanes.
class SendQueue {
 public:
  explicit SendQueue(const manifest::EntryTable& table) : table_(table) {}

  void Want(uint32_t index);
  void WantRest(uint32_t index, manifest::Bitmap held);

  void Drop(uint32_t index);  // the receiver cannot keep it, so it need not be sent

  // Chunks of `file` before this one need not be handed out: they were a hole, and that was sent.
  void Skip(const SourceFile& file, uint32_t next_chunk);

  // Work that a lost lane did not deliver: it comes before everything else, in this order.
  void Again(std::deque<SendWork> works);

  // Blocks until there is work. False once stopped; kEnd once finished and empty, or when the lane is `leaving`: call
  // Nudge after setting that.
  bool Take(SendWork* work, const std::atomic<bool>& leaving);
  void Nudge();

  // The entry handed out last, kTop before the first. Any thread.
  uint32_t latest() const { return latest_.load(std::memory_order_relaxed); }

  void Finish();  // nothing more will be wanted
  void Stop();

 private:
  bool TakeChunk(SendWork* work);
  void TakeFront(SendWork* work);

  static constexpr size_t kMaxPackFiles = 1024;

  const manifest::EntryTable& table_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SendWork> again_;
  std::deque<uint32_t> wanted_;
  std::unordered_map<uint32_t, manifest::Bitmap> held_;
  std::unordered_set<uint32_t> dropped_;
  std::shared_ptr<SourceFile> current_;  // the large file being handed out
  manifest::Bitmap current_held_;
  uint32_t next_chunk_ = 0;
  std::atomic<uint32_t> latest_ = manifest::kTop;
  bool finished_ = false;
  bool stopped_ = false;
};

}  // namespace keibi::send
