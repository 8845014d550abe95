// SPDX-License-Identifier: MPL-2.0
#include "mount/change_notices.h"

#include <string>

namespace keibi::mount {

Invalidations ChangeNotices::Apply(Change change, std::string_view path, std::vector<uint64_t>* look) {
  const std::scoped_lock lock(tree_->mutex());
  Invalidations announced;
  tree_->trust().Raise();
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  InodeNode* const parent =
      tree_->FindPath(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash));
  if (parent == nullptr || !parent->IsDirectory()) return announced;
  InodeNode* const node = parent->Child(name);
  if (const auto ours = parent->expected.find(std::string(name)); ours != parent->expected.end()) {
    ours->second.announced = true;
    return announced;
  }
  if (node != nullptr && node->pinned) {
    node->announced = true;
    return announced;
  }
  const bool is_new = change == Change::kCreated || change == Change::kReplaced;
  if (node != nullptr && node->own && !(node->IsDirectory() && is_new)) {
    look->push_back(node->ino);
    return announced;
  }
  if (node != nullptr && node->own) {
    tree_->DoubtAll(node, &announced);
    return announced;
  }
  if (node == nullptr && change == Change::kRemoved && tree_->trust().BelievesListing(*parent)) {
    return announced;  // already invalidated
  }
  if (change != Change::kChanged || node == nullptr) {
    parent->doubted = parent->list_doubted = tree_->trust().now();
    if (parent->lookups > 0) announced.push_back({0, {}, parent->ino, false});
  }
  // A file that is known before the notice of its creation is the created one.
  const bool late = change == Change::kCreated && node != nullptr && !node->IsDirectory();
  if (late || (change == Change::kChanged && node != nullptr)) {
    node->doubted = tree_->trust().now();
    if (node->lookups > 0) announced.push_back({0, {}, node->ino, !node->IsDirectory()});
    return announced;
  }
  if (node == nullptr) {
    // The kernel may have cached that the name does not exist.
    if (parent->lookups > 0) announced.push_back({parent->ino, std::string(name), 0, false});
  } else if ((change == Change::kRemoved || !node->IsDirectory()) && !node->HasPinned()) {
    // A replaced file is a new file: readers of the old one keep its pages.
    tree_->Detach(node, &announced);
  } else {
    tree_->DoubtAll(node, &announced);
  }
  return announced;
}

Invalidations ChangeNotices::Doubted(uint64_t ino) {
  const std::scoped_lock lock(tree_->mutex());
  Invalidations announced;
  tree_->trust().Raise();
  if (InodeNode* const node = tree_->Find(ino); node != nullptr) tree_->DoubtAll(node, &announced);
  return announced;
}

Invalidations ChangeNotices::DoubtedBeside(uint64_t ino) {
  const std::scoped_lock lock(tree_->mutex());
  Invalidations announced;
  const InodeNode* const node = tree_->Find(ino);
  if (node == nullptr || node->parent == nullptr) return announced;
  InodeNode* const directory = node->parent;
  directory->list_doubted = tree_->trust().Raise();
  // The kernel may have cached for a moment that they do not exist.
  for (const char* const end : {"-journal", "-wal"}) announced.push_back({directory->ino, node->name + end, 0, false});
  for (InodeNode* const other : InodeTree::Beside(*node)) {
    if (other->pinned) continue;
    other->doubted = tree_->trust().now();
    announced.push_back({directory->ino, other->name, other->ino, !other->IsDirectory()});
  }
  return announced;
}

Invalidations ChangeNotices::DoubtedName(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(tree_->mutex());
  Invalidations announced;
  InodeNode* const directory = tree_->Find(parent);
  if (directory == nullptr) return announced;
  directory->list_doubted = tree_->trust().Raise();
  if (InodeNode* const node = directory->Child(name); node != nullptr) node->doubted = tree_->trust().now();
  announced.push_back({parent, std::string(name), 0, false});
  return announced;
}

}  // namespace keibi::mount
