// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mount/inode_table.h"

namespace keibi::mount {

struct InodeTable::Node {
  uint64_t ino = 0;
  uint64_t number = 0;
  Node* parent = nullptr;  // null for the root and for removed nodes
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
  std::map<std::string_view, Node*> children;  // by their own names, in the order in which a directory is read

  struct Expectation {
    int times = 0;
    bool announced = false;
  };
  std::unordered_map<std::string, Expectation> expected;  // names in it

  bool IsDirectory() const { return attributes.type == stream::EntryType::kDirectory; }
};

}  // namespace keibi::mount
