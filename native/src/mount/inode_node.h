// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "manifest/entry.h"

namespace keibi::mount {

inline constexpr uint64_t kRootIno = 1;

// A moment in the order of all that puts something in doubt (inode_trust.h).
using Doubt = uint64_t;

// The known attributes of one file, directory or symlink.
struct Attributes {
  manifest::EntryType type = manifest::EntryType::kDirectory;
  uint16_t mode = 0755;
  int64_t mtime_ns = 0;
  uint64_t size = 0;

  bool operator==(const Attributes&) const = default;
};

// Tells the kernel to forget `name` in the directory `parent`, if set; the attributes of `ino`, if set, and with
// `content` also its pages.
struct Invalidation {
  uint64_t parent = 0;
  std::string name;
  uint64_t ino = 0;
  bool content = false;
};
using Invalidations = std::vector<Invalidation>;

// One file, directory or symlink of an InodeTree, whose mutex guards it.
struct InodeNode {
  using Time = std::chrono::steady_clock::time_point;

  uint64_t ino = 0;
  uint64_t number = 0;
  InodeNode* parent = nullptr;  // null for the root and for removed nodes
  std::string name;
  std::string target;
  Attributes attributes;
  uint64_t lookups = 0;  // references that the kernel holds
  bool own = false;      // we have made or changed it
  bool pinned = false;
  bool announced = false;  // a notice came while it was pinned

  Doubt known = 0, doubted = 0;  // the attributes
  Doubt own_doubt = 0;           // of a directory: our last change in it, if its attributes were valid until then
  Doubt moded = 0, filled = 0;   // our own last change of its mode; of its size and time
  Doubt placed = 0;              // our own last change of its name
  int moving = 0;                // our pending renames of it
  Time seen;

  bool listed = false;
  Doubt list_known = 0, list_doubted = 0;
  Time list_seen, used;
  std::map<std::string_view, InodeNode*> children;  // by their own names, in the order in which a directory is read

  struct Expectation {
    int times = 0;
    bool announced = false;
  };
  std::unordered_map<std::string, Expectation> expected;  // names in it

  bool IsDirectory() const { return attributes.type == manifest::EntryType::kDirectory; }
  bool IsRemoved() const { return parent == nullptr && ino != kRootIno; }
  InodeNode* Child(std::string_view child) const;  // or null
  // Whether a request of the time `doubt` was about an older path of the node.
  bool IsMovedSince(Doubt doubt) const;
  // Whether it, or a node below it, has unsent changes: it keeps its place.
  bool HasPinned() const;
  // Makes the kernel request it again.
  Invalidation Forgetting(bool content) const;
};

}  // namespace keibi::mount
