// SPDX-License-Identifier: MPL-2.0
#include "mount/unsent_changes.h"

#include <algorithm>

namespace keibi::mount {
namespace {

constexpr size_t kMostPutRanges = 32768;  // a put is one message

}  // namespace

void UnsentChanges::Count() {
  const uint64_t now = unsent_.bytes() + sent_.bytes();
  *total_ += now - counted_;
  counted_ = now;
}

void UnsentChanges::Write(uint64_t from, uint64_t end) {
  unsent_.Add(from, end);
  changed_ = true;
  changes_++;
  Count();
}

void UnsentChanges::Truncate(uint64_t size) {
  unsent_.Cut(size);
  keep_ = std::min(keep_, size);
  cut_ = std::min(cut_, size);
  changed_ = true;
  changes_++;
  Count();
}

void UnsentChanges::SetMtime() {
  changed_ = true;
  changes_++;
}

void UnsentChanges::GiveUp() {
  unsent_.Clear();
  sent_.Clear();
  changed_ = unsynced_ = false;
  Count();
}

void UnsentChanges::Restart(const Ranges& known, uint64_t keep) {
  unsent_ = known;
  keep_ = keep;
  changed_ = true;
  Count();
}

bool UnsentChanges::Begin(const FileVersion& base, const FileVersion& now, bool sync, uint64_t most_bytes, Put* put) {
  if (putting_ || !HasUnsent(sync)) return false;
  *put = {base, now, keep_, sync, put_changes_, {}};
  while (!unsent_.empty() && put->ranges.size() < kMostPutRanges && sent_.bytes() < most_bytes) {
    const auto [from, last] = *unsent_.map().begin();
    const uint64_t end = from + std::min(last - from, most_bytes - sent_.bytes());
    put->ranges.emplace_back(from, end - from);
    sent_.Add(from, end);
    unsent_.Remove(from, end);
  }
  // A put that leaves bytes unsent cannot sync the file.
  put->sync = sync && unsent_.empty();
  // A partial put leaves a version of its own, so it gets a different time.
  constexpr int64_t kNsPerStep = 1000;
  constexpr uint64_t kSteps = 1'000'000;
  if (!unsent_.empty()) put->now.mtime_ns -= kNsPerStep * static_cast<int64_t>(1 + unsent_.bytes() % kSteps);
  changed_ = !unsent_.empty();
  if (unsent_.empty()) put->changes = changes_;
  keep_ = now.size;
  cut_ = UINT64_MAX;
  putting_ = true;
  return true;
}

void UnsentChanges::Done(const Put& put) {
  putting_ = false;
  sent_.Clear();
  put_changes_ = put.changes;
  unsynced_ = !put.sync;
  Count();
}

void UnsentChanges::Failed(const Put& put) {
  putting_ = false;
  sent_.Cut(cut_);
  unsent_.Add(sent_);
  sent_.Clear();
  keep_ = std::min(put.keep, keep_);
  changed_ = true;
  Count();
}

}  // namespace keibi::mount
