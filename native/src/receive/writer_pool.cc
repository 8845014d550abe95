// SPDX-License-Identifier: MPL-2.0
#include "receive/writer_pool.h"

namespace keibi::receive {

WriterPool::WriterPool(size_t threads, Work work) : work_(std::move(work)) {
  for (size_t i = 0; i < threads; i++) threads_.emplace_back([this] { Run(); });
}

bool WriterPool::Exchange(std::unique_ptr<net::LaneBuffer>* buffer, size_t plaintext_bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || queued_.size() < kMaxQueued; });
  if (stopped_) return false;
  queued_.push_back({std::move(*buffer), plaintext_bytes});
  if (!spare_.empty()) {
    *buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
  lock.unlock();
  if (!*buffer) *buffer = std::make_unique<net::LaneBuffer>();
  return true;
}

void WriterPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !queued_.empty(); });
    if (stopped_) return;
    Job job = std::move(queued_.front());
    queued_.pop_front();
    changed_.notify_all();
    lock.unlock();
    work_(job.buffer->plaintext(), job.bytes);
    lock.lock();
    spare_.push_back(std::move(job.buffer));
  }
}

void WriterPool::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    queued_.clear();
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace keibi::receive
