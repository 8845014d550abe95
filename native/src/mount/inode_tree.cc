// SPDX-License-Identifier: MPL-2.0
#include "mount/inode_tree.h"

#include <algorithm>
#include <utility>

namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;
using manifest::Entry;
using manifest::EntryType;

// Companion files of one file, such as a journal. A database has few; more than this is a naming scheme.
constexpr size_t kMostBeside = 64;
constexpr uint64_t kMostNameBytes = uint64_t{128} << 20;  // names and symlink targets

}  // namespace

InodeNode* InodeNode::Child(std::string_view child) const {
  const auto found = children.find(child);
  return found == children.end() ? nullptr : found->second;
}

bool InodeNode::IsMovedSince(Doubt doubt) const {
  for (const InodeNode* one = this; one != nullptr; one = one->parent) {
    if (one->placed > doubt || one->moving > 0) return true;
  }
  return false;
}

bool InodeNode::HasPinned() const {
  return pinned ||
         std::any_of(children.begin(), children.end(), [](const auto& one) { return one.second->HasPinned(); });
}

// Keeps the name of a directory: without it the kernel would unlink the directory under processes that are in it. The
// kernel requests its attributes again.
Invalidation InodeNode::Forgetting(bool content) const {
  const bool named = !IsDirectory() && parent != nullptr;
  return {named ? parent->ino : 0, named ? name : std::string(), ino, content && !IsDirectory()};
}

InodeTree::InodeTree(size_t most) : most_(most) {
  auto root = std::make_unique<InodeNode>();
  root->ino = root->number = kRootIno;
  root->lookups = 1;  // never forgotten
  nodes_[kRootIno] = std::move(root);
}

InodeNode* InodeTree::Find(uint64_t ino) const {
  const auto found = nodes_.find(ino);
  return found == nodes_.end() ? nullptr : found->second.get();
}

InodeNode* InodeTree::FindPath(std::string_view path) const {
  InodeNode* node = Find(kRootIno);
  while (!path.empty() && node != nullptr) {
    const std::string_view name = path.substr(0, path.find('/'));
    node = node->Child(name);
    path.remove_prefix(std::min(path.size(), name.size() + 1));
  }
  return node;
}

bool InodeTree::PathOf(const InodeNode* node, std::string* path) const {
  std::vector<std::string_view> names;
  for (; node->parent != nullptr; node = node->parent) names.push_back(node->name);
  if (node->ino != kRootIno) return false;
  path->clear();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path->empty()) *path += '/';
    *path += *name;
  }
  return true;
}

std::vector<InodeNode*> InodeTree::Beside(const InodeNode& node) {
  std::vector<InodeNode*> beside;
  if (node.parent == nullptr) return beside;
  const auto& children = node.parent->children;
  for (auto at = children.upper_bound(node.name); at != children.end() && at->first.starts_with(node.name); ++at) {
    if (beside.size() == kMostBeside) break;
    beside.push_back(at->second);
  }
  return beside;
}

Found InodeTree::FoundOf(const InodeNode& node) const {
  const bool gone = node.IsRemoved();
  return {node.ino, node.number, node.attributes, node.pinned || gone || trust_.Believes(node), gone};
}

InodeNode* InodeTree::Add(InodeNode* parent, std::string_view name, EntryType type) {
  auto node = std::make_unique<InodeNode>();
  node->ino = ++last_ino_;
  node->number = inode_numbers_.Take(parent->number, name);
  node->parent = parent;
  node->name = name;
  node->attributes.type = type;
  InodeNode* const added = node.get();
  name_bytes_ += added->name.size();
  nodes_[added->ino] = std::move(node);
  parent->children[added->name] = added;
  return added;
}

void InodeTree::Place(InodeNode* node, InodeNode* parent, std::string_view name) {
  name_bytes_ += name.size() - node->name.size();
  node->name = name;
  node->parent = parent;
  node->own = true;
  node->placed = trust_.now();
  parent->children[node->name] = node;
}

void InodeTree::Erase(InodeNode* node) {
  name_bytes_ -= node->name.size() + node->target.size();
  inode_numbers_.Give(node->number);
  nodes_.erase(node->ino);
}

void InodeTree::Detach(InodeNode* node, Invalidations* announced) {
  while (!node->children.empty()) Detach(node->children.begin()->second, announced);
  node->listed = false;
  node->list_known = 0;
  if (node->parent != nullptr) {
    if (node->lookups > 0) announced->push_back({node->parent->ino, node->name, node->ino, false});
    node->parent->children.erase(node->name);
    node->parent = nullptr;
  }
  if (node->lookups == 0) Erase(node);
}

void InodeTree::Release(InodeNode* node, uint64_t times) {
  if (node->ino == kRootIno) return;
  node->lookups -= std::min(times, node->lookups);
  if (node->lookups == 0 && node->parent == nullptr) Erase(node);
}

void InodeTree::Set(InodeNode* node, Doubt doubt, const Entry& entry, Invalidations* announced) {
  if (node->known > doubt) return;                                      // an answer to an older question
  if (node->known != 0 && node->attributes.type != entry.type) return;  // our change is not sent yet
  const uint64_t size = entry.type == EntryType::kSymlink ? entry.target.size() : entry.size;
  Attributes attributes{entry.type, entry.mode, entry.mtime_ns, size};
  // The answer does not know changes made since the request.
  if (node->moded > doubt) attributes.mode = node->attributes.mode;
  if (node->filled > doubt) {
    attributes.size = node->attributes.size;
    attributes.mtime_ns = node->attributes.mtime_ns;
  }
  const bool changed = node->attributes != attributes || node->target != entry.target;
  if (node->known != 0 && changed && node->lookups > 0 && !node->pinned)
    announced->push_back({0, {}, node->ino, !node->IsDirectory()});
  node->attributes = attributes;
  name_bytes_ += entry.target.size() - node->target.size();
  node->target = entry.target;
  node->known = doubt;
  node->seen = Clock::now();
}

void InodeTree::DoubtAll(InodeNode* node, Invalidations* announced) {
  node->doubted = node->list_doubted = trust_.now();
  if (node->lookups > 0) announced->push_back(node->Forgetting(true));
  for (const auto& [name, child] : node->children) DoubtAll(child, announced);
}

void InodeTree::Watch(bool watched, Invalidations* announced) {
  trust_.Watch(watched);
  for (const auto& [ino, node] : nodes_) {
    if (node->lookups > 0) announced->push_back(node->Forgetting(false));
  }
}

void InodeTree::Listed(InodeNode* directory) {
  directory->listed = true;
  directory->list_seen = directory->used = Clock::now();
  listings_++;
  if (nodes_.size() > most_ || name_bytes_ > kMostNameBytes) Trim(directory);
}

void InodeTree::Trim(const InodeNode* keep) {
  std::vector<InodeNode*> lists;
  for (const auto& [ino, node] : nodes_) {
    if (!node->listed || node.get() == keep) continue;
    const bool held = std::any_of(node->children.begin(), node->children.end(),
                                  [](const auto& child) { return child.second->lookups > 0 || child.second->listed; });
    if (!held) lists.push_back(node.get());
  }
  std::sort(lists.begin(), lists.end(),
            [](const InodeNode* one, const InodeNode* other) { return one->used < other->used; });
  Invalidations none;
  for (InodeNode* const node : lists) {
    if (nodes_.size() <= most_ - most_ / 4 && name_bytes_ <= kMostNameBytes - kMostNameBytes / 4) return;
    while (!node->children.empty()) Detach(node->children.begin()->second, &none);
    node->listed = false;
    node->list_known = 0;
  }
}

}  // namespace keibi::mount
