// SPDX-License-Identifier: MPL-2.0
#include "send/send_queue.h"

#include <algorithm>
#include <iterator>

#include "core/limits.h"
#include "manifest/segment.h"

namespace keibi::send {

void SendQueue::Want(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  wanted_.push_back(index);
  changed_.notify_one();
}

void SendQueue::WantRest(uint32_t index, manifest::Bitmap held) {
  const std::scoped_lock lock(mutex_);
  held_[index] = std::move(held);
  wanted_.push_back(index);
  changed_.notify_one();
}

void SendQueue::Drop(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (current_ && current_->index() == index) {
    current_.reset();
  } else if (index < table_.size()) {
    dropped_.insert(index);
    held_.erase(index);
  }
}

void SendQueue::Skip(const SourceFile& file, uint32_t next_chunk) {
  const std::scoped_lock lock(mutex_);
  if (current_.get() == &file) next_chunk_ = std::max(next_chunk_, next_chunk);
}

void SendQueue::Again(std::deque<SendWork> works) {
  const std::scoped_lock lock(mutex_);
  again_.insert(again_.end(), std::make_move_iterator(works.begin()), std::make_move_iterator(works.end()));
  changed_.notify_all();
}

void SendQueue::Nudge() {
  const std::scoped_lock lock(mutex_);
  changed_.notify_all();
}

bool SendQueue::Take(SendWork* work, const std::atomic<bool>& leaving) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] {
      return stopped_ || finished_ || leaving.load() || current_ || !wanted_.empty() || !again_.empty();
    });
    if (stopped_) return false;
    if (leaving.load()) {
      work->kind = SendWork::Kind::kEnd;
      // A wake-up meant for one lane may have reached this one.
      changed_.notify_one();
      return true;
    }
    if (!again_.empty()) {
      *work = std::move(again_.front());
      again_.pop_front();
      return true;
    }
    if (current_ && TakeChunk(work)) return true;
    if (!wanted_.empty()) {
      TakeFront(work);
      if (!current_ && !work->pack.empty()) return true;
    } else if (finished_) {
      work->kind = SendWork::Kind::kEnd;
      return true;
    }
  }
}

bool SendQueue::TakeChunk(SendWork* work) {
  const uint32_t chunk = current_held_.NextMissing(next_chunk_);
  if (current_->failed() || chunk >= current_held_.chunks()) {
    current_.reset();
    return false;
  }
  next_chunk_ = chunk + 1;
  work->kind = SendWork::Kind::kChunk;
  work->file = current_;
  work->chunk = chunk;
  return true;
}

// Takes from the front: a large file, which becomes the current one; a stream; or as many small files as fill a frame.
void SendQueue::TakeFront(SendWork* work) {
  work->pack.clear();
  work->kind = SendWork::Kind::kPack;
  size_t bytes = 1;  // the frame's kind
  while (!wanted_.empty() && work->pack.size() < kMaxPackFiles) {
    const uint32_t index = wanted_.front();
    if (!dropped_.empty() && dropped_.erase(index) > 0) {
      wanted_.pop_front();
      continue;
    }
    manifest::Entry entry;
    table_.Find(index, &entry);
    const bool small = entry.type == manifest::EntryType::kFile && entry.size <= core::kChunkBytes;
    if (!small && !work->pack.empty()) return;
    bytes += manifest::Segment::kHeaderBytes + entry.size;
    if (small && bytes > core::kMaxFramePlaintext && !work->pack.empty()) return;
    wanted_.pop_front();
    latest_.store(index, std::memory_order_relaxed);
    if (small) {
      work->pack.push_back(index);
      continue;
    }
    if (entry.type == manifest::EntryType::kStream) {
      work->kind = SendWork::Kind::kStream;
      work->pack.push_back(index);
      return;
    }
    current_ = std::make_shared<SourceFile>(index, entry);
    next_chunk_ = 0;
    const auto held = held_.find(index);
    current_held_ = held == held_.end() ? manifest::Bitmap(manifest::ChunksOf(entry.size)) : std::move(held->second);
    if (held != held_.end()) held_.erase(held);
    changed_.notify_all();  // its chunks are work for every lane
    return;
  }
}

void SendQueue::Finish() {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void SendQueue::Stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace keibi::send
