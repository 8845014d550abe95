// SPDX-License-Identifier: MPL-2.0
#include "mount/prefetch.h"

#include <algorithm>
#include <unordered_set>

namespace keibi::mount {
namespace {

constexpr size_t kMostWalks = 4;
// Files that a program may skip or reorder between two that it opens.
constexpr size_t kSlack = 16;
constexpr size_t kFirstFiles = 32, kMostFiles = 256;
constexpr uint64_t kBytesOfFile = uint64_t{32} << 10;  // bytes of a window for each file in it
constexpr size_t kFirstLists = 2, kMostLists = 16;
// A sharing peer answers 8 at a time; leave room for listings that a program waits for.
constexpr size_t kMostListing = 6;
constexpr size_t kMostNext = 2 * kMostFiles;

}  // namespace

Prefetch::Plan Prefetch::Opened(uint64_t ino, bool directory, uint64_t most_bytes) {
  const std::scoped_lock lock(mutex_);
  Plan plan;
  if (away_) return plan;
  for (auto walk = prefetch_.begin(); walk != prefetch_.end(); ++walk) {
    if (!Goes(&*walk, ino, directory)) continue;
    prefetch_.splice(prefetch_.begin(), prefetch_, walk);
    Add(&prefetch_.front(), most_bytes, &plan);
    return plan;
  }
  uint64_t top = directory ? ino : walk_.DirectoryOf(ino);
  if (top == 0) return plan;
  // Many programs list all directories first, and then read the files.
  const auto wider =
      std::find_if(prefetch_.begin(), prefetch_.end(), [&](const Walk& walk) { return walk_.IsBelow(ino, walk.top); });
  if (!directory && wider != prefetch_.end()) top = wider->top;
  if (prefetch_.size() == kMostWalks) prefetch_.pop_back();
  Walk walk;
  walk.top = top;
  walk.at = ino;
  walk.file = !directory;
  prefetch_.push_front(std::move(walk));
  return plan;
}

Prefetch::Plan Prefetch::Listed(uint64_t most_bytes) {
  const std::scoped_lock lock(mutex_);
  Plan plan;
  listing_--;
  if (away_) return plan;
  for (Walk& walk : prefetch_) {
    if (walk.lists == 0) continue;
    LookAhead(&walk);
    Add(&walk, most_bytes, &plan);
  }
  return plan;
}

void Prefetch::SetAway(bool away) {
  const std::scoped_lock lock(mutex_);
  away_ = away;
  if (away) prefetch_.clear();
}

// Whether the walk reaches `ino` next, or soon; if so the walk moves there.
bool Prefetch::Goes(Walk* walk, uint64_t ino, bool directory) {
  const auto is_it = [ino](const Step& step) { return step.ino == ino; };
  auto found = std::find_if(walk->next.begin(), walk->next.end(), is_it);
  if (found == walk->next.end()) {
    if (!walk->next.empty() && walk->listings == walk_.listings()) return false;
    LookAhead(walk);
    found = std::find_if(walk->next.begin(), walk->next.end(), is_it);
    if (found == walk->next.end()) return false;
  }
  const auto missed = std::count_if(walk->next.begin(), found, [directory](const Step& step) {
    return step.directory == directory && !step.asked && !step.listed;
  });
  if (static_cast<size_t>(missed) > kSlack) return false;
  walk->at = ino;
  walk->next.erase(walk->next.begin(), found + 1);
  if (directory) {
    walk->lists = std::clamp(2 * walk->lists, kFirstLists, kMostLists);
  } else if (walk->file && Ahead(*walk) <= walk->files / 2) {
    walk->files = std::clamp(2 * walk->files, kFirstFiles, kMostFiles);
  }
  walk->file = walk->file || !directory;
  if (walk->next.size() < std::max(walk->files, kSlack)) LookAhead(walk);
  return true;
}

size_t Prefetch::Ahead(const Walk& walk) {
  return static_cast<size_t>(std::count_if(walk.next.begin(), walk.next.end(),
                                           [](const Step& step) { return !step.directory && step.asked; }));
}

void Prefetch::LookAhead(Walk* walk) const {
  std::unordered_set<uint64_t> asked;
  for (const Step& step : walk->next) {
    if (step.asked) asked.insert(step.ino);
  }
  walk->next.clear();
  walk->listings = walk_.listings();
  const size_t most = walk->files == 0 ? 4 * kSlack : kMostNext;
  for (const Upcoming& one : walk_.Behind(walk->at, walk->top, most, kMostSmallBytes)) {
    walk->next.push_back({one, asked.contains(one.ino)});
  }
}

// Adds files by half a window, so that one message brings many.
void Prefetch::Add(Walk* walk, uint64_t most_bytes, Plan* plan) {
  const size_t most_files = Ahead(*walk) <= walk->files / 2 ? walk->files : 0;
  most_bytes = std::min(most_bytes, walk->files * kBytesOfFile);
  size_t files = 0, lists = 0;
  uint64_t bytes = 0;
  for (Step& step : walk->next) {
    if (files >= most_files && lists >= walk->lists) return;
    if (step.directory) {
      if (step.listed || lists++ >= walk->lists || step.asked || listing_ >= kMostListing) continue;
      listing_++;
      plan->lists.push_back(step.ino);
    } else {
      bytes += step.bytes;
      if (files++ >= most_files || bytes > most_bytes || step.asked) continue;
      plan->files.push_back(step.ino);
    }
    step.asked = true;
  }
}

}  // namespace keibi::mount
