// SPDX-License-Identifier: MPL-2.0
#include "mount/prefetch.h"

#include <algorithm>
#include <unordered_set>

#include "mount/inode_node.h"

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
// Steps of one look-ahead: a tree of directories alone must not hold the lock for long.
constexpr size_t kMostSteps = 4096;

}  // namespace

uint64_t InodeTable::DirectoryOf(uint64_t ino) const {
  const std::scoped_lock lock(mutex_);
  const Node* const node = NodeOf(ino);
  return node == nullptr || node->parent == nullptr ? 0 : node->parent->ino;
}

bool InodeTable::IsBelow(uint64_t ino, uint64_t directory) const {
  const std::scoped_lock lock(mutex_);
  const Node* node = NodeOf(ino);
  if (node == nullptr) return false;
  do node = node->parent;
  while (node != nullptr && node->ino != directory);
  return node != nullptr;
}

uint64_t InodeTable::listings() const {
  const std::scoped_lock lock(mutex_);
  return listings_;
}

bool InodeTable::IsListed(const Node& directory) const {
  return directory.listed && Believed(directory.list_known, directory.list_doubted, directory.list_seen);
}

InodeTable::Node* InodeTable::NodeBehind(const Node* node, const Node* top) const {
  if (node->IsDirectory() && IsListed(*node) && !node->children.empty()) return node->children.begin()->second;
  for (; node != top && node->parent != nullptr; node = node->parent) {
    const auto next = node->parent->children.upper_bound(node->name);
    if (next != node->parent->children.end()) return next->second;
  }
  return nullptr;
}

std::vector<Upcoming> InodeTable::Behind(uint64_t ino, uint64_t top, size_t most, uint64_t most_bytes) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Upcoming> found;
  const Node* node = NodeOf(ino);
  const Node* const within = NodeOf(top);
  if (node == nullptr || within == nullptr) return found;
  for (size_t steps = 0; steps < kMostSteps && found.size() < most; steps++) {
    node = NodeBehind(node, within);
    if (node == nullptr) break;
    const auto& [type, mode, mtime_ns, size] = node->attributes;
    const bool directory = node->IsDirectory();
    const bool file = type == stream::EntryType::kFile && size > 0 && size <= most_bytes;
    if (directory || file) found.push_back({node->ino, directory, directory && IsListed(*node), size});
  }
  return found;
}

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
  uint64_t top = directory ? ino : inodes_->DirectoryOf(ino);
  if (top == 0) return plan;
  // Many programs list all directories first, and then read the files.
  const auto wider = std::find_if(prefetch_.begin(), prefetch_.end(),
                                  [&](const Walk& walk) { return inodes_->IsBelow(ino, walk.top); });
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
    if (!walk->next.empty() && walk->listings == inodes_->listings()) return false;
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
  walk->listings = inodes_->listings();
  const size_t most = walk->files == 0 ? 4 * kSlack : kMostNext;
  for (const Upcoming& one : inodes_->Behind(walk->at, walk->top, most, kMostSmallBytes)) {
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
