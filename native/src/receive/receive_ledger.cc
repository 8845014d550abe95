// SPDX-License-Identifier: MPL-2.0
#include "receive/receive_ledger.h"

#include <utility>

namespace keibi::receive {

using core::Status;

void ReceiveLedger::Resize(size_t entries) {
  const std::scoped_lock lock(mutex_);
  states_.resize(entries, State::kNone);
}

void ReceiveLedger::EndOfPages() {
  const std::scoped_lock lock(mutex_);
  end_of_pages_ = true;
  CheckCompleteLocked();
}

ReceiveLedger::State ReceiveLedger::StateOf(uint32_t index) const {
  const std::scoped_lock lock(mutex_);
  return index < states_.size() ? states_[index] : State::kNone;
}

void ReceiveLedger::Want(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  states_[index] = State::kWanted;
  pending_++;
}

void ReceiveLedger::Discard(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (index < states_.size() && states_[index] == State::kWanted) states_[index] = State::kDiscarded;
}

bool ReceiveLedger::Claim(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  if (states_[index] != State::kWanted) return false;
  states_[index] = State::kTaken;
  return true;
}

bool ReceiveLedger::Withdraw(uint32_t index) {
  const std::scoped_lock lock(mutex_);
  return SettleLocked(index, State::kFailed);
}

void ReceiveLedger::Fail(uint32_t index, Status status) {
  {
    const std::scoped_lock lock(mutex_);
    if (states_[index] != State::kWanted && states_[index] != State::kTaken) return;
    news_.problems.push_back({index, status});
    SettleLocked(index, State::kFailed);
  }
  wake_();
}

void ReceiveLedger::Refuse(uint32_t index, Status status) {
  {
    const std::scoped_lock lock(mutex_);
    states_[index] = State::kFailed;
    news_.problems.push_back({index, status});
  }
  wake_();
}

void ReceiveLedger::Done(uint32_t index, uint64_t file_bytes, uint64_t new_bytes) {
  const std::scoped_lock lock(mutex_);
  if (report_placed_) news_.placed.push_back(index);
  progress_.files++;
  progress_.placed_bytes += file_bytes;
  progress_.bytes += new_bytes;
  SettleLocked(index, State::kDone);
}

void ReceiveLedger::AddBytes(uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.bytes += bytes;
}

void ReceiveLedger::AddResumed(uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.bytes += bytes;
  progress_.resumed_bytes += bytes;
}

void ReceiveLedger::AddDiscarded(uint32_t index, uint64_t bytes, uint64_t file_bytes) {
  {
    const std::scoped_lock lock(mutex_);
    progress_.bytes += bytes;
    if ((discarded_[index] += bytes) != file_bytes) return;
  }
  Done(index, file_bytes, 0);
  wake_();  // a measurement waits for this moment
}

void ReceiveLedger::AddSkipped(uint64_t file_bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.skipped++;
  progress_.skipped_bytes += file_bytes;
  progress_.bytes += file_bytes;
}

void ReceiveLedger::RemoveSkipped(uint64_t file_bytes) {
  const std::scoped_lock lock(mutex_);
  progress_.skipped--;
  progress_.skipped_bytes -= file_bytes;
  progress_.bytes -= file_bytes;
}

void ReceiveLedger::AddLaneEnd(net::LaneEnd end) {
  {
    const std::scoped_lock lock(mutex_);
    news_.lanes_ended.push_back(end);
  }
  wake_();
}

void ReceiveLedger::AddProblem(uint32_t index, Status status) {
  const std::scoped_lock lock(mutex_);
  news_.problems.push_back({index, status});
}

ReceiveNews ReceiveLedger::TakeNews() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

ReceiveProgress ReceiveLedger::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

bool ReceiveLedger::SettleLocked(uint32_t index, State state) {
  if (index >= states_.size()) return false;
  const State before = states_[index];
  if (before != State::kWanted && before != State::kTaken && before != State::kDiscarded) return false;
  states_[index] = state;
  pending_--;
  CheckCompleteLocked();
  return true;
}

void ReceiveLedger::CheckCompleteLocked() {
  if (!end_of_pages_ || pending_ > 0 || announced_) return;
  announced_ = news_.complete = true;
  wake_();
}

}  // namespace keibi::receive
