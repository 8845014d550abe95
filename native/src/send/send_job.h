// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/status.h"
#include "core/wake.h"
#include "frame/rekey.h"
#include "net/lane_acceptor.h"
#include "net/lane_end.h"
#include "send/send_lanes.h"
#include "send/walker.h"

namespace keibi::send {

struct SendOptions {
  std::vector<Root> roots;
  std::shared_ptr<net::RateBudget> budget = nullptr;  // shared with other jobs; null: no limit
  SelectionOptions selection = {};
};

// The events since the last TakeNews.
struct SendNews {
  std::vector<manifest::EntryTable::Page>
      pages;                          // to be sent to the receiver, in this order; their bytes live as long as the job
  std::vector<WalkProblem> problems;  // of the walk and of reading
  std::optional<WalkTotals> walked;   // once
  std::vector<net::LaneEnd> lanes_ended;
  std::vector<uint32_t> lanes_moved;  // closed by the receiver: other lanes carry what it had not taken
};

// One receiver's transfer on the sending peer: walks the roots, then reads the wanted files, on its own threads.
class SendJob : public net::LaneAcceptor {
 public:
  SendJob(SendOptions options, core::Wake wake);
  ~SendJob() override;  // Stop() must have been called

  void Start();
  SendNews TakeNews();

  // The receiver's answer to one page (PROTOCOL 7): a bit per entry, and the chunks it holds of some entries.
  // kHandshakeMalformed if it does not fit the page or the entry, or comes out of turn. One thread at a time.
  core::Status Answer(uint32_t first, uint32_t count, const uint8_t* wanted, size_t wanted_bytes,
                      const std::vector<std::pair<uint32_t, std::vector<uint8_t>>>& partials);

  void OnLane(int fd, uint32_t lane, std::unique_ptr<frame::Sealer> sealer,
              std::unique_ptr<frame::Opener> opener) override;

  SendLanes& lanes() { return lanes_; }

  void Drop(uint32_t index) { queue_.Drop(index); }  // the receiver cannot keep this entry
  // From now on every lane's writer moves to this rekey before its next frame (PROTOCOL 4.3).
  void Rekey(uint32_t number, frame::Key secret) { rekeys_->Add(number, std::move(secret)); }
  void Finish();  // the receiver has everything: lanes send their end frame
  void Stop();    // ends and joins all threads; idempotent; may block for as long as one read of a disk

  // The path of the file being sent, as in the manifest; empty before the first. Any thread.
  std::string CurrentPath() const { return table_.PathOf(queue_.latest()); }

  // SHA-256 of each chunk of a file's current content. May block. kSourceChanged when it is not the offered version.
  core::Status Digest(uint32_t index, std::vector<uint8_t>* digests) const;

 private:
  // Pages walked but not taken. This limit pauses the walk when the control connection is slow.
  static constexpr size_t kMaxWaitingPages = 16;

  bool OnPage(const manifest::EntryTable::Page& page);
  void OnProblem(WalkProblem problem);
  void OnLaneEnd(net::LaneEnd end);

  const SendOptions options_;
  const core::Wake wake_;
  manifest::EntryTable table_;
  std::vector<Root> tops_;
  disk::DirHandles dirs_;
  Sources sources_;
  SendQueue queue_;
  net::RateLimiter limiter_;
  const std::shared_ptr<frame::RekeySecrets> rekeys_ = std::make_shared<frame::RekeySecrets>();

  std::mutex stopping_;  // one Stop at a time; taken before mutex_
  std::mutex mutex_;
  std::condition_variable pages_taken_;
  SendNews news_;
  uint32_t answered_ = 0;              // entries of the pages answered so far
  std::atomic<bool> stopped_ = false;  // written with mutex_ held
  std::thread walker_;
  SendLanes lanes_;
};

}  // namespace keibi::send
