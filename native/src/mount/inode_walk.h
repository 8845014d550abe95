// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mount/inode_tree.h"

namespace keibi::mount {

// An entry that a walk over the tree reaches: a small file, or a directory.
struct Upcoming {
  uint64_t ino = 0;
  bool directory = false;
  bool listed = false;  // a directory whose listing is known
  uint64_t bytes = 0;
};

// Where a node stands in the tree, and which nodes are near it. Any thread; takes the tree's mutex.
class InodeWalk {
 public:
  explicit InodeWalk(const InodeTree& tree) : tree_(tree) {}

  // Its directory; 0 if it has no name any more.
  uint64_t DirectoryOf(uint64_t ino) const;
  // Whether it is somewhere below `directory`.
  bool IsBelow(uint64_t ino, uint64_t directory) const;
  // Files in the same directory whose names begin with that of `ino`, such as the journal of a database.
  std::vector<uint64_t> Beside(uint64_t ino) const;
  // Behind returns the successors of `ino` in a walk over `top`: in name order, each directory before its entries. It
  // returns at most `most` directories and files of 1 to `most_bytes` bytes. listings() rises with each listing: Behind
  // may then return more.
  std::vector<Upcoming> Behind(uint64_t ino, uint64_t top, size_t most, uint64_t most_bytes) const;
  uint64_t listings() const;

 private:
  bool IsListed(const InodeNode& directory) const;
  const InodeNode* NodeBehind(const InodeNode* node, const InodeNode* top) const;

  const InodeTree& tree_;
};

}  // namespace keibi::mount
