// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "manifest/entry.h"
#include "mount/inode_tree.h"

namespace keibi::mount {

// Our own changes of the tree, and the rules that keep older answers and notices from undoing them. The kernel already
// knows of them. Any thread; takes the tree's mutex.
class OwnChanges {
 public:
  explicit OwnChanges(InodeTree* tree) : tree_(tree) {}

  // Call once the other peer has made the change. With `found` the kernel holds the new node once more.
  void Made(uint64_t parent, const manifest::Entry& entry, Found* found);
  void Removed(uint64_t parent, std::string_view name);
  void Renamed(uint64_t from_parent, std::string_view from, uint64_t to_parent, std::string_view to, bool exchange);
  // Announces our own change of a name, so that its notice counts as ours. Expected ends this and returns whether a
  // notice came: if so, look at the name again.
  void Expect(uint64_t parent, std::string_view name);
  bool Expected(uint64_t parent, std::string_view name);
  // Then sets the directory's new mtime. Its other attributes stay valid if they were so before.
  void Became(uint64_t ino, int64_t mtime_ns);
  // A rename of `ino` begins or ends: an answer in between may be about either name.
  void Moving(uint64_t ino, bool begins);
  // The mode travels apart from size and time, and either may arrive first. An answer about one, or to an older
  // request, may be stale for the other.
  enum class What { kAll, kMode, kContent };
  void Changed(uint64_t ino, const manifest::Entry& entry, What what);

  // We have bytes that the other peer lacks: until Unpin no answer or notice removes the node. False if it has no name
  // any more.
  bool Pin(uint64_t ino);
  // True if it needs a look: a notice came meanwhile.
  bool Unpin(uint64_t ino);
  // Renames it to `name` in the same directory. The entry that now has its old name is unknown.
  Invalidations MoveAside(uint64_t ino, std::string_view name);

 private:
  void ChangeEntries(InodeNode* directory);

  InodeTree* const tree_;
};

}  // namespace keibi::mount
