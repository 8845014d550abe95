// SPDX-License-Identifier: MPL-2.0
#include "share/change_notes.h"

#include <utility>

namespace keibi::share {
namespace {

// The kind to report for a path that changed twice.
ChangeKind Merged(ChangeKind before, ChangeKind now) {
  if (now == ChangeKind::kRemoved || now == ChangeKind::kReplaced) return now;
  if (before == ChangeKind::kRemoved) return ChangeKind::kReplaced;
  return before == ChangeKind::kChanged ? now : before;
}

}  // namespace

ChangeNotes::ChangeNotes(core::Wake wake) : wake_(std::move(wake)) {}

void ChangeNotes::Watching() {
  const std::scoped_lock lock(mutex_);
  watching_ = true;
  WakeLocked();
}

void ChangeNotes::Note(ChangeKind kind, const std::string& path) {
  const std::scoped_lock lock(mutex_);
  if (missed_) return;
  const auto [entry, added] = pending_.try_emplace(path, kind);
  if (!added) entry->second = Merged(entry->second, kind);
  if (pending_.size() > kMost) return MissLocked();
  WakeLocked();
}

void ChangeNotes::Miss() {
  const std::scoped_lock lock(mutex_);
  MissLocked();
}

void ChangeNotes::Trouble(core::Status status) {
  const std::scoped_lock lock(mutex_);
  if (trouble_.ok()) trouble_ = status;
  MissLocked();
}

Changes ChangeNotes::Take() {
  const std::scoped_lock lock(mutex_);
  Changes taken;
  for (auto& [path, kind] : pending_) taken.changes.push_back({kind, path});
  pending_.clear();
  taken.missed = std::exchange(missed_, false);
  taken.watching = watching_;
  taken.trouble = trouble_;
  woken_ = false;
  return taken;
}

void ChangeNotes::MissLocked() {
  pending_.clear();
  missed_ = true;
  WakeLocked();
}

void ChangeNotes::WakeLocked() {
  if (!std::exchange(woken_, true)) wake_();
}

}  // namespace keibi::share
