// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/status.h"
#include "frame/rekey.h"
#include "net/lane_acceptor.h"
#include "share/serve_lane.h"
#include "share/write_handles.h"

namespace keibi::share {

struct ServeOptions {
  ServedFolder folder;
  std::shared_ptr<net::RateBudget> budget = nullptr;  // shared with other jobs; null: no limit
  std::shared_ptr<WriteLedger> ledger = nullptr;      // of all guests of the folder; null: the folder is read-only
  std::shared_ptr<LockTable> locks = nullptr;         // of this guest; null: it cannot lock
};

// One guest's reads and writes in a shared folder during one session: its lanes, each on its own thread. A guest that
// breaks the protocol loses the lane. Any thread.
class ServeJob : public net::LaneAcceptor {
 public:
  explicit ServeJob(ServeOptions options);
  ~ServeJob() override { Stop(); }

  void OnLane(int fd, uint32_t lane, std::unique_ptr<frame::Sealer> sealer,
              std::unique_ptr<frame::Opener> opener) override;

  // From now on every lane's writer moves to this rekey before its next frame, and its reader can follow
  // (PROTOCOL 4.3).
  void Rekey(uint32_t number, frame::Key secret) { rekeys_->Add(number, std::move(secret)); }

  uint64_t bytes() const;  // file bytes sent so far
  // The files that the guest has open for writing; null if the folder is read-only.
  WriteHandles* written() const { return written_.get(); }
  // Ends and joins all threads, and closes open writes; idempotent; may block as long as a disk does.
  void Stop();

 private:
  struct Lane {
    std::unique_ptr<ServeLane> lane;
    std::thread thread;
    bool ended = false;
  };

  void ReapLocked();

  const ServeOptions options_;
  net::RateLimiter limiter_;
  const std::unique_ptr<WriteHandles> written_;
  const std::shared_ptr<frame::RekeySecrets> rekeys_ = std::make_shared<frame::RekeySecrets>();
  mutable std::mutex mutex_;
  bool stopped_ = false;
  uint64_t bytes_of_ended_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace keibi::share
