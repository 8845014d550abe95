// SPDX-License-Identifier: MPL-2.0
#include "share/serve_job.h"

#include <utility>

#include "core/limits.h"
#include "net/socket.h"

namespace keibi::share {

ServeJob::ServeJob(ServeOptions options)
    : options_(std::move(options)),
      limiter_(options_.budget),
      written_(options_.ledger ? std::make_unique<WriteHandles>(options_.folder, options_.ledger, options_.locks)
                               : nullptr) {}

void ServeJob::OnLane(int fd, uint32_t, std::unique_ptr<frame::Sealer> sealer, std::unique_ptr<frame::Opener> opener) {
  core::Fd socket(fd);
  net::TuneLane(socket.get());
  sealer->Follow(rekeys_);
  opener->Follow(rekeys_);
  const std::scoped_lock lock(mutex_);
  ReapLocked();
  if (stopped_ || lanes_.size() >= core::kMaxLanes) return;
  auto added = std::make_unique<Lane>();
  Lane* const running = added.get();
  running->lane = std::make_unique<ServeLane>(std::move(socket), std::move(sealer), std::move(opener), options_.folder,
                                              written_.get(), &limiter_);
  running->thread = std::thread([this, running] {
    // The guest notices the end itself: its reads continue on another lane.
    static_cast<void>(running->lane->Run());
    running->lane->Shutdown();
    const std::scoped_lock ending(mutex_);
    running->ended = true;
  });
  lanes_.push_back(std::move(added));
}

// With mutex_ held; the thread of an ended lane takes no lock of ours any more.
void ServeJob::ReapLocked() {
  std::erase_if(lanes_, [this](const std::unique_ptr<Lane>& lane) {
    if (!lane->ended) return false;
    lane->thread.join();
    bytes_of_ended_ += lane->lane->bytes();
    return true;
  });
}

uint64_t ServeJob::bytes() const {
  const std::scoped_lock lock(mutex_);
  uint64_t bytes = bytes_of_ended_;
  for (const auto& lane : lanes_) bytes += lane->lane->bytes();
  return bytes;
}

void ServeJob::Stop() {
  std::vector<std::unique_ptr<Lane>> lanes;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    limiter_.Stop();
    for (const auto& lane : lanes_) lane->lane->Shutdown();
    for (const auto& lane : lanes_) bytes_of_ended_ += lane->lane->bytes();
    lanes.swap(lanes_);
  }
  for (const auto& lane : lanes) lane->thread.join();
  if (written_) written_->CloseAll();
}

}  // namespace keibi::share
