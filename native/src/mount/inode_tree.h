// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "manifest/entry.h"
#include "mount/inode_node.h"
#include "mount/inode_numbers.h"
#include "mount/inode_trust.h"

namespace keibi::mount {

struct Found {
  uint64_t ino = 0;
  uint64_t number = 0;  // the inode number that programs see (inode_numbers.h)
  Attributes attributes;
  bool sure = false;  // else it was true a moment ago: the kernel must not cache it
  bool gone = false;  // it has no name any more
};

// The nodes of a mount: their numbers, names and places, and how often the kernel holds each. Keeps removed nodes that
// the kernel holds. Hold `mutex()` from before the first method until after the last use of a node.
class InodeTree {
 public:
  // `most`: the number of nodes kept, unless the kernel holds more.
  explicit InodeTree(size_t most);

  std::mutex& mutex() const { return mutex_; }
  InodeTrust& trust() { return trust_; }
  const InodeTrust& trust() const { return trust_; }

  InodeNode* Find(uint64_t ino) const;               // or null
  InodeNode* FindPath(std::string_view path) const;  // or null
  bool PathOf(const InodeNode* node,
              std::string* path) const;  // false if it was removed
  // Files in the same directory whose names begin with that of `node`, such as the journal of a database.
  static std::vector<InodeNode*> Beside(const InodeNode& node);
  Found FoundOf(const InodeNode& node) const;
  size_t size() const { return nodes_.size(); }

  InodeNode* Add(InodeNode* parent, std::string_view name, manifest::EntryType type);
  // Puts a node without a parent under a name, as our own change.
  void Place(InodeNode* node, InodeNode* parent, std::string_view name);
  // Detaches a node and all nodes below it; only those that the kernel holds remain.
  void Detach(InodeNode* node, Invalidations* announced);
  // The kernel holds the node that many times less.
  void Release(InodeNode* node, uint64_t times);

  // Takes the attributes from an answer to a request of the time `doubt`, unless newer ones are known.
  void Set(InodeNode* node, Doubt doubt, const manifest::Entry& entry, Invalidations* announced);
  // Puts a node and all nodes below it in doubt, as of now.
  void DoubtAll(InodeNode* node, Invalidations* announced);
  // Puts everything in doubt; from now on changes are reported, or are not.
  void Watch(bool watched, Invalidations* announced);

  // A directory was listed: if there are too many nodes, forgets other listings that the kernel does not hold, least
  // recently used first.
  void Listed(InodeNode* directory);
  uint64_t listings() const { return listings_; }  // rises with each listing

 private:
  void Erase(InodeNode* node);
  void Trim(const InodeNode* keep);

  mutable std::mutex mutex_;
  InodeTrust trust_;
  std::unordered_map<uint64_t, std::unique_ptr<InodeNode>> nodes_;
  const size_t most_;
  uint64_t name_bytes_ = 0;  // names and symlink targets
  uint64_t last_ino_ = kRootIno;
  InodeNumbers inode_numbers_;
  uint64_t listings_ = 0;
};

}  // namespace keibi::mount
