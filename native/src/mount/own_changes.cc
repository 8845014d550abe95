// SPDX-License-Identifier: MPL-2.0
#include "mount/own_changes.h"

#include <chrono>
#include <string>
#include <utility>

namespace keibi::mount {

using manifest::Entry;

// Answers to requests sent before the change show the directory as it was before.
void OwnChanges::ChangeEntries(InodeNode* directory) {
  const bool believed = tree_->trust().BelievesListing(*directory);
  const bool sure = tree_->trust().Believes(*directory);
  directory->list_doubted = directory->doubted = tree_->trust().Raise();
  if (believed) directory->list_known = tree_->trust().now();
  directory->own_doubt = sure ? tree_->trust().now() : 0;
  directory->own = true;
}

void OwnChanges::Made(uint64_t parent, const Entry& entry, Found* found) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const directory = tree_->Find(parent);
  if (directory == nullptr || !directory->IsDirectory()) return;
  ChangeEntries(directory);
  Invalidations none;
  InodeNode* node = directory->Child(entry.name);
  // A listing may have brought the entry before this answer.
  if (node != nullptr && node->attributes.type != entry.type) {
    tree_->Detach(node, &none);
    node = nullptr;
  }
  if (node == nullptr) node = tree_->Add(directory, entry.name, entry.type);
  tree_->Set(node, tree_->trust().now(), entry, &none);
  node->own = true;
  node->placed = tree_->trust().now();
  if (found == nullptr) return;
  node->lookups++;
  *found = tree_->FoundOf(*node);
}

void OwnChanges::Removed(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const directory = tree_->Find(parent);
  if (directory == nullptr) return;
  ChangeEntries(directory);
  Invalidations none;
  if (InodeNode* const node = directory->Child(name); node != nullptr) tree_->Detach(node, &none);
}

void OwnChanges::Renamed(uint64_t from_parent, std::string_view from, uint64_t to_parent, std::string_view to,
                         bool exchange) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const before = tree_->Find(from_parent);
  InodeNode* const after = tree_->Find(to_parent);
  if (before == nullptr || after == nullptr) return;
  ChangeEntries(before);
  if (after != before) ChangeEntries(after);
  const auto take = [](InodeNode* directory, std::string_view name) -> InodeNode* {
    const auto found = directory->children.find(name);
    if (found == directory->children.end()) return nullptr;
    InodeNode* const node = found->second;
    directory->children.erase(found);
    return node;
  };
  InodeNode* const moved = take(before, from);
  if (moved == nullptr && !exchange) after->list_known = 0;  // The entry that now has that name is unknown.
  InodeNode* const other = take(after, to);
  if (other != nullptr && exchange) {
    tree_->Place(other, before, from);
  } else if (other != nullptr) {
    after->children[other->name] = other;
    Invalidations none;
    tree_->Detach(other, &none);
  }
  if (exchange && (moved == nullptr || other == nullptr)) before->list_known = after->list_known = 0;
  if (moved != nullptr) tree_->Place(moved, after, to);
}

void OwnChanges::Expect(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(tree_->mutex());
  if (InodeNode* const directory = tree_->Find(parent); directory != nullptr)
    directory->expected[std::string(name)].times++;
}

bool OwnChanges::Expected(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const directory = tree_->Find(parent);
  if (directory == nullptr) return false;
  const auto found = directory->expected.find(std::string(name));
  if (found == directory->expected.end()) return false;
  const bool announced = found->second.announced;
  if (--found->second.times == 0) directory->expected.erase(found);
  return announced;
}

// If two of our changes overlap, their order there is unknown, and so is which mtime is current.
void OwnChanges::Became(uint64_t ino, int64_t mtime_ns) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const directory = tree_->Find(ino);
  if (directory == nullptr || directory->own_doubt == 0 || directory->own_doubt != directory->doubted) return;
  if (!directory->expected.empty()) return;
  directory->attributes.mtime_ns = mtime_ns;
  directory->known = directory->own_doubt;
  directory->seen = std::chrono::steady_clock::now();
}

void OwnChanges::Moving(uint64_t ino, bool begins) {
  const std::scoped_lock lock(tree_->mutex());
  if (InodeNode* const node = tree_->Find(ino); node != nullptr) node->moving += begins ? 1 : -1;
}

void OwnChanges::Changed(uint64_t ino, const Entry& entry, What what) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const node = tree_->Find(ino);
  if (node == nullptr || node->attributes.type != entry.type) return;
  node->own = true;
  if (what == What::kMode) {
    node->attributes.mode = entry.mode;
    node->moded = tree_->trust().Raise();
  } else if (what == What::kContent) {
    node->attributes.size = entry.size;
    node->attributes.mtime_ns = entry.mtime_ns;
    node->filled = tree_->trust().Raise();
  } else {
    Invalidations none;
    tree_->Set(node, tree_->trust().Raise(), entry, &none);
  }
}

bool OwnChanges::Pin(uint64_t ino) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const node = tree_->Find(ino);
  if (node == nullptr || node->parent == nullptr) return false;
  node->pinned = node->own = true;
  return true;
}

bool OwnChanges::Unpin(uint64_t ino) {
  const std::scoped_lock lock(tree_->mutex());
  InodeNode* const node = tree_->Find(ino);
  if (node == nullptr || !node->pinned) return false;
  node->pinned = false;
  return std::exchange(node->announced, false);
}

Invalidations OwnChanges::MoveAside(uint64_t ino, std::string_view name) {
  const std::scoped_lock lock(tree_->mutex());
  Invalidations announced;
  InodeNode* const node = tree_->Find(ino);
  if (node == nullptr || node->parent == nullptr) return announced;
  InodeNode* const parent = node->parent;
  parent->doubted = parent->list_doubted = tree_->trust().Raise();
  announced.push_back({parent->ino, node->name, parent->ino, false});
  announced.push_back({parent->ino, std::string(name), 0, false});
  parent->children.erase(node->name);
  if (InodeNode* const taken = parent->Child(name); taken != nullptr) tree_->Detach(taken, &announced);
  tree_->Place(node, parent, name);
  return announced;
}

}  // namespace keibi::mount
