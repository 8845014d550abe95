// SPDX-License-Identifier: MPL-2.0
#include <utility>

#include "mount/inode_node.h"
#include "mount/inode_table.h"

// Our own changes, and the rules that keep older answers and notices from undoing them.
namespace keibi::mount {

using stream::Entry;

// Answers to requests sent before the change show the directory as it was before.
void InodeTable::OwnWork(Node* directory) {
  const bool believed = Believed(directory->list_known, directory->list_doubted, directory->list_seen);
  const bool sure = Believed(directory->known, directory->doubted, directory->seen);
  directory->list_doubted = directory->doubted = ++doubts_;
  if (believed) directory->list_known = doubts_;
  directory->own_doubt = sure ? doubts_ : 0;
  directory->own = true;
}

void InodeTable::Made(uint64_t parent, const Entry& entry, Found* found) {
  const std::scoped_lock lock(mutex_);
  Node* const directory = NodeOf(parent);
  if (directory == nullptr || !directory->IsDirectory()) return;
  OwnWork(directory);
  Invalidations none;
  const auto known = directory->children.find(entry.name);
  Node* node = known == directory->children.end() ? nullptr : known->second;
  // A listing may have brought the entry before this answer.
  if (node != nullptr && node->attributes.type != entry.type) {
    Detach(node, &none);
    node = nullptr;
  }
  if (node == nullptr) node = Add(directory, entry.name, entry.type);
  Set(node, doubts_, entry, &none);
  node->own = true;
  node->placed = doubts_;
  if (found == nullptr) return;
  node->lookups++;
  *found = FoundOf(*node);
}

void InodeTable::Removed(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  Node* const directory = NodeOf(parent);
  if (directory == nullptr) return;
  OwnWork(directory);
  Invalidations none;
  const auto known = directory->children.find(name);
  if (known != directory->children.end()) Detach(known->second, &none);
}

void InodeTable::Move(Node* node, Node* parent, std::string_view name) {
  name_bytes_ += name.size() - node->name.size();
  node->name = name;
  node->parent = parent;
  node->own = true;
  node->placed = doubts_;
  parent->children[node->name] = node;
}

void InodeTable::Renamed(uint64_t from_parent, std::string_view from, uint64_t to_parent, std::string_view to,
                         bool exchange) {
  const std::scoped_lock lock(mutex_);
  Node* const before = NodeOf(from_parent);
  Node* const after = NodeOf(to_parent);
  if (before == nullptr || after == nullptr) return;
  OwnWork(before);
  if (after != before) OwnWork(after);
  const auto take = [](Node* directory, std::string_view name) -> Node* {
    const auto found = directory->children.find(name);
    if (found == directory->children.end()) return nullptr;
    Node* const node = found->second;
    directory->children.erase(found);
    return node;
  };
  Node* const moved = take(before, from);
  if (moved == nullptr && !exchange) after->list_known = 0;  // The entry that now has that name is unknown.
  Node* const other = take(after, to);
  if (other != nullptr && exchange) {
    Move(other, before, from);
  } else if (other != nullptr) {
    after->children[other->name] = other;
    Invalidations none;
    Detach(other, &none);
  }
  if (exchange && (moved == nullptr || other == nullptr)) before->list_known = after->list_known = 0;
  if (moved != nullptr) Move(moved, after, to);
}

void InodeTable::Expect(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  if (Node* const directory = NodeOf(parent); directory != nullptr) directory->expected[std::string(name)].times++;
}

bool InodeTable::Expected(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  Node* const directory = NodeOf(parent);
  if (directory == nullptr) return false;
  const auto found = directory->expected.find(std::string(name));
  if (found == directory->expected.end()) return false;
  const bool announced = found->second.announced;
  if (--found->second.times == 0) directory->expected.erase(found);
  return announced;
}

// If two of our changes overlap, their order there is unknown, and so is which mtime is current.
void InodeTable::Became(uint64_t ino, int64_t mtime_ns) {
  const std::scoped_lock lock(mutex_);
  Node* const directory = NodeOf(ino);
  if (directory == nullptr || directory->own_doubt == 0 || directory->own_doubt != directory->doubted) return;
  if (!directory->expected.empty()) return;
  directory->attributes.mtime_ns = mtime_ns;
  directory->known = directory->own_doubt;
  directory->seen = std::chrono::steady_clock::now();
}

void InodeTable::Moving(uint64_t ino, bool begins) {
  const std::scoped_lock lock(mutex_);
  if (Node* const node = NodeOf(ino); node != nullptr) node->moving += begins ? 1 : -1;
}

void InodeTable::Changed(uint64_t ino, const Entry& entry, What what) {
  const std::scoped_lock lock(mutex_);
  Node* const node = NodeOf(ino);
  if (node == nullptr || node->attributes.type != entry.type) return;
  node->own = true;
  if (what == What::kMode) {
    node->attributes.mode = entry.mode;
    node->moded = ++doubts_;
  } else if (what == What::kContent) {
    node->attributes.size = entry.size;
    node->attributes.mtime_ns = entry.mtime_ns;
    node->filled = ++doubts_;
  } else {
    Invalidations none;
    Set(node, ++doubts_, entry, &none);
  }
}

uint64_t InodeTable::Child(uint64_t parent, std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const Node* const directory = NodeOf(parent);
  if (directory == nullptr) return 0;
  const auto found = directory->children.find(name);
  return found == directory->children.end() ? 0 : found->second->ino;
}

bool InodeTable::Pin(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  Node* const node = NodeOf(ino);
  if (node == nullptr || node->parent == nullptr) return false;
  node->pinned = node->own = true;
  return true;
}

bool InodeTable::Unpin(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  Node* const node = NodeOf(ino);
  if (node == nullptr || !node->pinned) return false;
  node->pinned = false;
  return std::exchange(node->announced, false);
}

InodeTable::Invalidations InodeTable::MoveAside(uint64_t ino, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  Node* const node = NodeOf(ino);
  if (node == nullptr || node->parent == nullptr) return announced;
  Node* const parent = node->parent;
  doubts_++;
  parent->doubted = parent->list_doubted = doubts_;
  announced.push_back({parent->ino, node->name, parent->ino, false});
  announced.push_back({parent->ino, std::string(name), 0, false});
  parent->children.erase(node->name);
  if (const auto taken = parent->children.find(name); taken != parent->children.end())
    Detach(taken->second, &announced);
  Move(node, parent, name);
  return announced;
}

void InodeTable::Hold(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  if (Node* const node = NodeOf(ino); node != nullptr) node->lookups++;
}

}  // namespace keibi::mount
