// SPDX-License-Identifier: MPL-2.0
#include "mount/inode_table.h"

#include <algorithm>
#include <utility>

#include "mount/host_messages.h"
#include "mount/inode_node.h"

namespace keibi::mount {
namespace {

using Clock = std::chrono::steady_clock;
using stream::Entry;
using stream::EntryType;

constexpr std::chrono::milliseconds kUnwatchedTrust{rules::kUnwatchedTrustMs};
constexpr double kWatchedTrustSeconds = 3600;
// Companion files of one file, such as a journal. A database has few; more than this is a naming scheme.
constexpr size_t kMostBeside = 64;
constexpr uint64_t kMostNameBytes = uint64_t{128} << 20;  // names and symlink targets

}  // namespace

InodeTable::InodeTable(size_t most) : most_(most) {
  auto root = std::make_unique<Node>();
  root->ino = root->number = kRootIno;
  root->lookups = 1;  // never forgotten
  nodes_[kRootIno] = std::move(root);
}

InodeTable::~InodeTable() = default;

InodeTable::Node* InodeTable::NodeOf(uint64_t ino) const {
  const auto found = nodes_.find(ino);
  return found == nodes_.end() ? nullptr : found->second.get();
}

InodeTable::Node* InodeTable::NodeAt(std::string_view path) const {
  Node* node = NodeOf(kRootIno);
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    const auto child = node->children.find(name);
    if (child == node->children.end()) return nullptr;
    node = child->second;
    path.remove_prefix(std::min(path.size(), name.size() + 1));
  }
  return node;
}

bool InodeTable::Believed(Doubt known, Doubt doubted, Time seen) const {
  if (known == 0) return false;
  if (away_) return true;
  if (known < std::max(doubted, all_doubted_)) return false;
  return watched_ || Clock::now() - seen < kUnwatchedTrust;
}

Found InodeTable::FoundOf(const Node& node) const {
  const bool gone = node.parent == nullptr && node.ino != kRootIno;
  return {node.ino, node.number, node.attributes, node.pinned || gone || Believed(node.known, node.doubted, node.seen),
          gone};
}

InodeTable::Known InodeTable::Lookup(uint64_t parent, std::string_view name, bool answered, Found* found) {
  const std::scoped_lock lock(mutex_);
  Node* const directory = NodeOf(parent);
  if (directory == nullptr || !directory->IsDirectory()) return Known::kAbsent;
  directory->used = Clock::now();
  const auto child = directory->children.find(name);
  const bool there = child != directory->children.end();
  if (there) *found = FoundOf(*child->second);
  if (there && (answered || found->sure)) {
    child->second->lookups++;
    return Known::kYes;
  }
  const bool listed = Believed(directory->list_known, directory->list_doubted, directory->list_seen);
  if (listed || answered) return there ? Known::kAsk : Known::kAbsent;
  const bool orphan = directory->parent == nullptr && parent != kRootIno;
  found->ino = 0;
  return orphan ? Known::kAbsent : Known::kAsk;
}

InodeTable::Known InodeTable::Look(uint64_t ino, bool answered, Found* found) const {
  const std::scoped_lock lock(mutex_);
  const Node* const node = NodeOf(ino);
  if (node == nullptr) return Known::kAbsent;
  *found = FoundOf(*node);
  const bool orphan = node->parent == nullptr && ino != kRootIno;
  if (answered || orphan) return node->known == 0 ? Known::kAbsent : Known::kYes;
  return found->sure ? Known::kYes : Known::kAsk;
}

InodeTable::Known InodeTable::List(uint64_t ino, bool answered, std::vector<Line>* lines) {
  const std::scoped_lock lock(mutex_);
  Node* const node = NodeOf(ino);
  if (node == nullptr || !node->IsDirectory()) return Known::kAbsent;
  if (node->parent == nullptr && ino != kRootIno) return Known::kAbsent;
  node->used = Clock::now();
  if (!answered && !Believed(node->list_known, node->list_doubted, node->list_seen)) return Known::kAsk;
  if (!node->listed) return Known::kAbsent;
  lines->reserve(node->children.size());
  for (const auto& [name, child] : node->children) {
    lines->push_back({child->number, child->attributes.type, child->name});
  }
  return Known::kYes;
}

InodeTable::Known InodeTable::ReadLink(uint64_t ino, std::string* target) const {
  const std::scoped_lock lock(mutex_);
  const Node* const node = NodeOf(ino);
  if (node == nullptr || node->attributes.type != EntryType::kSymlink) return Known::kAbsent;
  *target = node->target;
  return Believed(node->known, node->doubted, node->seen) ? Known::kYes : Known::kAsk;
}

void InodeTable::Forget(uint64_t ino, uint64_t times) {
  const std::scoped_lock lock(mutex_);
  Node* const node = NodeOf(ino);
  if (node == nullptr || ino == kRootIno) return;
  node->lookups -= std::min(times, node->lookups);
  if (node->lookups == 0 && node->parent == nullptr) Erase(node);
}

bool InodeTable::Ask(uint64_t ino, std::string* path, Doubt* doubt) const {
  const std::scoped_lock lock(mutex_);
  const Node* node = NodeOf(ino);
  if (node == nullptr) return false;
  std::vector<std::string_view> names;
  for (; node->parent != nullptr; node = node->parent) names.push_back(node->name);
  if (node->ino != kRootIno) return false;
  path->clear();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path->empty()) *path += '/';
    *path += *name;
  }
  *doubt = doubts_;
  return true;
}

InodeTable::Node* InodeTable::Add(Node* parent, std::string_view name, EntryType type) {
  auto node = std::make_unique<Node>();
  node->ino = ++last_ino_;
  node->number = inode_numbers_.Take(parent->number, name);
  node->parent = parent;
  node->name = name;
  node->attributes.type = type;
  Node* const added = node.get();
  name_bytes_ += added->name.size();
  nodes_[added->ino] = std::move(node);
  parent->children[added->name] = added;
  return added;
}

void InodeTable::Erase(Node* node) {
  name_bytes_ -= node->name.size() + node->target.size();
  inode_numbers_.Give(node->number);
  nodes_.erase(node->ino);
}

// Detaches a node and all nodes below it; only those that the kernel holds remain.
void InodeTable::Detach(Node* node, Invalidations* announced) {
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

// Whether the request was about an older path of the node.
bool InodeTable::IsOfBefore(const Node& node, Doubt doubt) {
  for (const Node* one = &node; one != nullptr; one = one->parent) {
    if (one->placed > doubt || one->moving > 0) return true;
  }
  return false;
}

// A node with unsent changes keeps its place.
bool InodeTable::HasPinned(const Node& node) {
  return node.pinned || std::any_of(node.children.begin(), node.children.end(),
                                    [](const auto& one) { return HasPinned(*one.second); });
}

// Keeps the name of a directory: without it the kernel would unlink the directory under processes that are in it. The
// kernel requests its attributes again.
Invalidation InodeTable::Forgetting(const Node& node, bool content) {
  const bool named = !node.IsDirectory() && node.parent != nullptr;
  return {named ? node.parent->ino : 0, named ? node.name : std::string(), node.ino, content && !node.IsDirectory()};
}

void InodeTable::DoubtAll(Node* node, Invalidations* announced) {
  node->doubted = node->list_doubted = doubts_;
  if (node->lookups > 0) announced->push_back(Forgetting(*node, true));
  for (const auto& [name, child] : node->children) DoubtAll(child, announced);
}

void InodeTable::Set(Node* node, Doubt doubt, const Entry& entry, Invalidations* announced) {
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

InodeTable::Invalidations InodeTable::PutListing(uint64_t ino, Doubt doubt, const std::vector<Entry>& entries) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  Node* const directory = NodeOf(ino);
  if (directory == nullptr || !directory->IsDirectory()) return announced;
  if (directory->parent == nullptr && ino != kRootIno) return announced;
  if (IsOfBefore(*directory, doubt)) {
    doubts_++;
    DoubtAll(directory, &announced);
    return announced;
  }
  std::map<std::string_view, Node*> before;
  before.swap(directory->children);
  for (const Entry& entry : entries) {
    const auto known = before.find(entry.name);
    Node* node = known == before.end() ? nullptr : known->second;
    const bool newer =
        node != nullptr && (node->moving > 0 || node->placed > doubt || node->known > doubt || HasPinned(*node));
    if (newer || (node != nullptr && node->attributes.type == entry.type)) {
      directory->children[node->name] = node;
      before.erase(known);
    } else {
      node = Add(directory, entry.name, entry.type);
      // A change reported during the request may be about this node, which was unknown then.
      node->doubted = directory->list_doubted;
    }
    Set(node, doubt, entry, &announced);
  }
  for (const auto& [name, node] : before) {
    const auto taken = directory->children.find(name);
    const bool newer = node->known > doubt || node->placed > doubt || node->moving > 0 || HasPinned(*node);
    if (taken == directory->children.end() && newer) {
      directory->children[node->name] = node;  // found by a later request, or not sent yet
      continue;
    }
    // It was removed, or another node has its name now and keeps it.
    Node* const other = taken == directory->children.end() ? nullptr : taken->second;
    if (other != nullptr) directory->children.erase(taken);
    directory->children[node->name] = node;
    const std::string kept = node->name;
    Detach(node, &announced);
    if (other != nullptr) directory->children[other->name] = other;
  }
  directory->listed = true;
  listings_++;
  directory->list_known = std::max(directory->list_known, doubt);
  directory->list_seen = directory->used = Clock::now();
  if (nodes_.size() > most_ || name_bytes_ > kMostNameBytes) Trim(directory);
  return announced;
}

InodeTable::Invalidations InodeTable::PutEntry(uint64_t ino, Doubt doubt, const Entry& entry) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  Node* const node = NodeOf(ino);
  if (node == nullptr) return announced;
  if (IsOfBefore(*node, doubt)) {
    doubts_++;
    DoubtAll(node, &announced);
    return announced;
  }
  if (node->attributes.type == entry.type || ino == kRootIno) {
    if (ino != kRootIno || entry.type == EntryType::kDirectory) Set(node, doubt, entry, &announced);
    return announced;
  }
  Node* const parent = node->parent;
  if (parent == nullptr || node->pinned || node->known > doubt) return announced;
  const std::string name = node->name;
  Detach(node, &announced);
  Set(Add(parent, name, entry.type), doubt, entry, &announced);
  return announced;
}

InodeTable::Invalidations InodeTable::PutAbsent(uint64_t ino, Doubt doubt) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  Node* const node = NodeOf(ino);
  if (node == nullptr || ino == kRootIno) return announced;
  if (IsOfBefore(*node, doubt)) {
    doubts_++;
    DoubtAll(node, &announced);
  } else if (node->known <= doubt && !HasPinned(*node)) {
    Detach(node, &announced);
  }
  return announced;
}

InodeTable::Invalidations InodeTable::Apply(Change change, std::string_view path, std::vector<uint64_t>* look) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  doubts_++;
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  Node* const parent = NodeAt(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash));
  if (parent == nullptr || !parent->IsDirectory()) return announced;
  const auto found = parent->children.find(name);
  Node* const node = found == parent->children.end() ? nullptr : found->second;
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
    DoubtAll(node, &announced);
    return announced;
  }
  if (node == nullptr && change == Change::kRemoved &&
      Believed(parent->list_known, parent->list_doubted, parent->list_seen)) {
    return announced;  // already invalidated
  }
  if (change != Change::kChanged || node == nullptr) {
    parent->doubted = parent->list_doubted = doubts_;
    if (parent->lookups > 0) announced.push_back({0, {}, parent->ino, false});
  }
  // A file that is known before the notice of its creation is the created one.
  const bool late = change == Change::kCreated && node != nullptr && !node->IsDirectory();
  if (late || (change == Change::kChanged && node != nullptr)) {
    node->doubted = doubts_;
    if (node->lookups > 0) announced.push_back({0, {}, node->ino, !node->IsDirectory()});
    return announced;
  }
  if (node == nullptr) {
    // The kernel may have cached that the name does not exist.
    if (parent->lookups > 0) announced.push_back({parent->ino, std::string(name), 0, false});
  } else if ((change == Change::kRemoved || !node->IsDirectory()) && !HasPinned(*node)) {
    // A replaced file is a new file: readers of the old one keep its pages.
    Detach(node, &announced);
  } else {
    DoubtAll(node, &announced);
  }
  return announced;
}

InodeTable::Invalidations InodeTable::Doubted(uint64_t ino) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  doubts_++;
  if (Node* const node = NodeOf(ino); node != nullptr) DoubtAll(node, &announced);
  return announced;
}

std::vector<uint64_t> InodeTable::Beside(uint64_t ino) const {
  const std::scoped_lock lock(mutex_);
  std::vector<uint64_t> beside;
  const Node* const node = NodeOf(ino);
  if (node == nullptr || node->parent == nullptr) return beside;
  const auto& children = node->parent->children;
  for (auto at = children.upper_bound(node->name); at != children.end() && at->first.starts_with(node->name); ++at) {
    if (beside.size() == kMostBeside) break;
    beside.push_back(at->second->ino);
  }
  return beside;
}

InodeTable::Invalidations InodeTable::DoubtedBeside(uint64_t ino) {
  const std::vector<uint64_t> beside = Beside(ino);
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  const Node* const node = NodeOf(ino);
  if (node == nullptr || node->parent == nullptr) return announced;
  Node* const directory = node->parent;
  directory->list_doubted = ++doubts_;
  // The kernel may have cached for a moment that they do not exist.
  for (const char* const end : {"-journal", "-wal"}) announced.push_back({directory->ino, node->name + end, 0, false});
  for (const uint64_t one : beside) {
    Node* const other = NodeOf(one);
    if (other == nullptr || other->pinned || other->parent != directory) continue;
    other->doubted = doubts_;
    announced.push_back({directory->ino, other->name, other->ino, !other->IsDirectory()});
  }
  return announced;
}

InodeTable::Invalidations InodeTable::DoubtedName(uint64_t parent, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  Node* const directory = NodeOf(parent);
  if (directory == nullptr) return announced;
  directory->list_doubted = ++doubts_;
  const auto found = directory->children.find(name);
  if (found != directory->children.end()) found->second->doubted = doubts_;
  announced.push_back({parent, std::string(name), 0, false});
  return announced;
}

InodeTable::Invalidations InodeTable::Watch(bool watched) {
  const std::scoped_lock lock(mutex_);
  Invalidations announced;
  watched_ = watched;
  all_doubted_ = ++doubts_;
  for (const auto& [ino, node] : nodes_) {
    if (node->lookups > 0) announced.push_back(Forgetting(*node, false));
  }
  return announced;
}

void InodeTable::SetAway(bool away) {
  const std::scoped_lock lock(mutex_);
  away_ = away;
}

bool InodeTable::IsAway() const {
  const std::scoped_lock lock(mutex_);
  return away_;
}

double InodeTable::TrustSeconds() const {
  const std::scoped_lock lock(mutex_);
  return watched_ && !away_ ? kWatchedTrustSeconds : std::chrono::duration<double>(kUnwatchedTrust).count();
}

size_t InodeTable::size() const {
  const std::scoped_lock lock(mutex_);
  return nodes_.size();
}

// Forgets listings that the kernel does not hold, least recently used first.
void InodeTable::Trim(const Node* keep) {
  std::vector<Node*> lists;
  for (const auto& [ino, node] : nodes_) {
    if (!node->listed || node.get() == keep) continue;
    const bool held = std::any_of(node->children.begin(), node->children.end(),
                                  [](const auto& child) { return child.second->lookups > 0 || child.second->listed; });
    if (!held) lists.push_back(node.get());
  }
  std::sort(lists.begin(), lists.end(), [](const Node* one, const Node* other) { return one->used < other->used; });
  Invalidations none;
  for (Node* const node : lists) {
    if (nodes_.size() <= most_ - most_ / 4 && name_bytes_ <= kMostNameBytes - kMostNameBytes / 4) return;
    while (!node->children.empty()) Detach(node->children.begin()->second, &none);
    node->listed = false;
    node->list_known = 0;
  }
}

}  // namespace keibi::mount
