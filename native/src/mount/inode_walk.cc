// SPDX-License-Identifier: MPL-2.0
#include "mount/inode_walk.h"

namespace keibi::mount {
namespace {

// Steps of one look-ahead: a tree of directories alone must not hold the lock for long.
constexpr size_t kMostSteps = 4096;

}  // namespace

uint64_t InodeWalk::DirectoryOf(uint64_t ino) const {
  const std::scoped_lock lock(tree_.mutex());
  const InodeNode* const node = tree_.Find(ino);
  return node == nullptr || node->parent == nullptr ? 0 : node->parent->ino;
}

bool InodeWalk::IsBelow(uint64_t ino, uint64_t directory) const {
  const std::scoped_lock lock(tree_.mutex());
  const InodeNode* node = tree_.Find(ino);
  if (node == nullptr) return false;
  do node = node->parent;
  while (node != nullptr && node->ino != directory);
  return node != nullptr;
}

std::vector<uint64_t> InodeWalk::Beside(uint64_t ino) const {
  const std::scoped_lock lock(tree_.mutex());
  std::vector<uint64_t> beside;
  const InodeNode* const node = tree_.Find(ino);
  if (node == nullptr) return beside;
  for (const InodeNode* const other : InodeTree::Beside(*node)) beside.push_back(other->ino);
  return beside;
}

uint64_t InodeWalk::listings() const {
  const std::scoped_lock lock(tree_.mutex());
  return tree_.listings();
}

bool InodeWalk::IsListed(const InodeNode& directory) const {
  return directory.listed && tree_.trust().BelievesListing(directory);
}

const InodeNode* InodeWalk::NodeBehind(const InodeNode* node, const InodeNode* top) const {
  if (node->IsDirectory() && IsListed(*node) && !node->children.empty()) return node->children.begin()->second;
  for (; node != top && node->parent != nullptr; node = node->parent) {
    const auto next = node->parent->children.upper_bound(node->name);
    if (next != node->parent->children.end()) return next->second;
  }
  return nullptr;
}

std::vector<Upcoming> InodeWalk::Behind(uint64_t ino, uint64_t top, size_t most, uint64_t most_bytes) const {
  const std::scoped_lock lock(tree_.mutex());
  std::vector<Upcoming> found;
  const InodeNode* node = tree_.Find(ino);
  const InodeNode* const within = tree_.Find(top);
  if (node == nullptr || within == nullptr) return found;
  for (size_t steps = 0; steps < kMostSteps && found.size() < most; steps++) {
    node = NodeBehind(node, within);
    if (node == nullptr) break;
    const auto& [type, mode, mtime_ns, size] = node->attributes;
    const bool directory = node->IsDirectory();
    const bool file = type == manifest::EntryType::kFile && size > 0 && size <= most_bytes;
    if (directory || file) found.push_back({node->ino, directory, directory && IsListed(*node), size});
  }
  return found;
}

}  // namespace keibi::mount
