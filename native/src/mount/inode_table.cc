// SPDX-License-Identifier: MPL-2.0
#include "mount/inode_table.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;
using manifest::Entry;
using manifest::EntryType;

}  // namespace

InodeTable::Known InodeTable::Lookup(uint64_t parent, std::string_view name, bool answered, Found* found) {
  const std::scoped_lock lock(tree_.mutex());
  InodeNode* const directory = tree_.Find(parent);
  if (directory == nullptr || !directory->IsDirectory()) return Known::kAbsent;
  directory->used = Clock::now();
  const auto child = directory->children.find(name);
  const bool there = child != directory->children.end();
  if (there) *found = tree_.FoundOf(*child->second);
  if (there && (answered || found->sure)) {
    child->second->lookups++;
    return Known::kYes;
  }
  const bool listed = tree_.trust().BelievesListing(*directory);
  if (listed || answered) return there ? Known::kAsk : Known::kAbsent;
  found->ino = 0;
  return directory->IsRemoved() ? Known::kAbsent : Known::kAsk;
}

InodeTable::Known InodeTable::Look(uint64_t ino, bool answered, Found* found) const {
  const std::scoped_lock lock(tree_.mutex());
  const InodeNode* const node = tree_.Find(ino);
  if (node == nullptr) return Known::kAbsent;
  *found = tree_.FoundOf(*node);
  if (answered || node->IsRemoved()) return node->known == 0 ? Known::kAbsent : Known::kYes;
  return found->sure ? Known::kYes : Known::kAsk;
}

InodeTable::Known InodeTable::List(uint64_t ino, bool answered, std::vector<Line>* lines) {
  const std::scoped_lock lock(tree_.mutex());
  InodeNode* const node = tree_.Find(ino);
  if (node == nullptr || !node->IsDirectory() || node->IsRemoved()) return Known::kAbsent;
  node->used = Clock::now();
  if (!answered && !tree_.trust().BelievesListing(*node)) return Known::kAsk;
  if (!node->listed) return Known::kAbsent;
  lines->reserve(node->children.size());
  for (const auto& [name, child] : node->children) {
    lines->push_back({child->number, child->attributes.type, child->name});
  }
  return Known::kYes;
}

InodeTable::Known InodeTable::ReadLink(uint64_t ino, std::string* target) const {
  const std::scoped_lock lock(tree_.mutex());
  const InodeNode* const node = tree_.Find(ino);
  if (node == nullptr || node->attributes.type != EntryType::kSymlink) return Known::kAbsent;
  *target = node->target;
  return tree_.trust().Believes(*node) ? Known::kYes : Known::kAsk;
}

void InodeTable::Forget(uint64_t ino, uint64_t times) {
  const std::scoped_lock lock(tree_.mutex());
  InodeNode* const node = tree_.Find(ino);
  if (node != nullptr) tree_.Release(node, times);
}

void InodeTable::Hold(uint64_t ino) {
  const std::scoped_lock lock(tree_.mutex());
  if (InodeNode* const node = tree_.Find(ino); node != nullptr) node->lookups++;
}

uint64_t InodeTable::Child(uint64_t parent, std::string_view name) const {
  const std::scoped_lock lock(tree_.mutex());
  const InodeNode* const directory = tree_.Find(parent);
  const InodeNode* const node = directory == nullptr ? nullptr : directory->Child(name);
  return node == nullptr ? 0 : node->ino;
}

bool InodeTable::Ask(uint64_t ino, std::string* path, Doubt* doubt) const {
  const std::scoped_lock lock(tree_.mutex());
  const InodeNode* const node = tree_.Find(ino);
  if (node == nullptr || !tree_.PathOf(node, path)) return false;
  *doubt = tree_.trust().now();
  return true;
}

Invalidations InodeTable::PutListing(uint64_t ino, Doubt doubt, const std::vector<Entry>& entries) {
  const std::scoped_lock lock(tree_.mutex());
  Invalidations announced;
  InodeNode* const directory = tree_.Find(ino);
  if (directory == nullptr || !directory->IsDirectory() || directory->IsRemoved()) return announced;
  if (directory->IsMovedSince(doubt)) {
    tree_.trust().Raise();
    tree_.DoubtAll(directory, &announced);
    return announced;
  }
  std::map<std::string_view, InodeNode*> before;
  before.swap(directory->children);
  for (const Entry& entry : entries) {
    const auto known = before.find(entry.name);
    InodeNode* node = known == before.end() ? nullptr : known->second;
    const bool newer =
        node != nullptr && (node->moving > 0 || node->placed > doubt || node->known > doubt || node->HasPinned());
    if (newer || (node != nullptr && node->attributes.type == entry.type)) {
      directory->children[node->name] = node;
      before.erase(known);
    } else {
      node = tree_.Add(directory, entry.name, entry.type);
      // A change reported during the request may be about this node, which was unknown then.
      node->doubted = directory->list_doubted;
    }
    tree_.Set(node, doubt, entry, &announced);
  }
  for (const auto& [name, node] : before) {
    const auto taken = directory->children.find(name);
    const bool newer = node->known > doubt || node->placed > doubt || node->moving > 0 || node->HasPinned();
    if (taken == directory->children.end() && newer) {
      directory->children[node->name] = node;  // found by a later request, or not sent yet
      continue;
    }
    // It was removed, or another node has its name now and keeps it.
    InodeNode* const other = taken == directory->children.end() ? nullptr : taken->second;
    if (other != nullptr) directory->children.erase(taken);
    directory->children[node->name] = node;
    const std::string kept = node->name;
    tree_.Detach(node, &announced);
    if (other != nullptr) directory->children[other->name] = other;
  }
  directory->list_known = std::max(directory->list_known, doubt);
  tree_.Listed(directory);
  return announced;
}

Invalidations InodeTable::PutEntry(uint64_t ino, Doubt doubt, const Entry& entry) {
  const std::scoped_lock lock(tree_.mutex());
  Invalidations announced;
  InodeNode* const node = tree_.Find(ino);
  if (node == nullptr) return announced;
  if (node->IsMovedSince(doubt)) {
    tree_.trust().Raise();
    tree_.DoubtAll(node, &announced);
    return announced;
  }
  if (node->attributes.type == entry.type || ino == kRootIno) {
    if (ino != kRootIno || entry.type == EntryType::kDirectory) tree_.Set(node, doubt, entry, &announced);
    return announced;
  }
  InodeNode* const parent = node->parent;
  if (parent == nullptr || node->pinned || node->known > doubt) return announced;
  const std::string name = node->name;
  tree_.Detach(node, &announced);
  tree_.Set(tree_.Add(parent, name, entry.type), doubt, entry, &announced);
  return announced;
}

Invalidations InodeTable::PutAbsent(uint64_t ino, Doubt doubt) {
  const std::scoped_lock lock(tree_.mutex());
  Invalidations announced;
  InodeNode* const node = tree_.Find(ino);
  if (node == nullptr || ino == kRootIno) return announced;
  if (node->IsMovedSince(doubt)) {
    tree_.trust().Raise();
    tree_.DoubtAll(node, &announced);
  } else if (node->known <= doubt && !node->HasPinned()) {
    tree_.Detach(node, &announced);
  }
  return announced;
}

Invalidations InodeTable::Watch(bool watched) {
  const std::scoped_lock lock(tree_.mutex());
  Invalidations announced;
  tree_.Watch(watched, &announced);
  return announced;
}

void InodeTable::SetAway(bool away) {
  const std::scoped_lock lock(tree_.mutex());
  tree_.trust().SetAway(away);
}

bool InodeTable::IsAway() const {
  const std::scoped_lock lock(tree_.mutex());
  return tree_.trust().IsAway();
}

double InodeTable::TrustSeconds() const {
  const std::scoped_lock lock(tree_.mutex());
  return tree_.trust().Seconds();
}

size_t InodeTable::size() const {
  const std::scoped_lock lock(tree_.mutex());
  return tree_.size();
}

}  // namespace keibi::mount
