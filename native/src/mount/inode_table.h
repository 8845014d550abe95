// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/entry.h"
#include "mount/change_notices.h"
#include "mount/inode_tree.h"
#include "mount/inode_walk.h"
#include "mount/own_changes.h"

namespace keibi::mount {

// One entry of a directory, as of when it was opened.
struct Line {
  uint64_t number;
  manifest::EntryType type;
  std::string name;
};

// The other peer's tree, as far as it was requested: answers the kernel from it, and takes the answers to requests.
// inode_trust.h decides what needs a request. Any thread; the tree's mutex guards everything, also of the three classes
// that share the tree.
class InodeTable {
 public:
  enum class Known { kYes, kAbsent, kAsk };
  using Doubt = mount::Doubt;
  using Invalidations = mount::Invalidations;

  // `most`: the number of nodes kept, unless the kernel holds more.
  explicit InodeTable(size_t most = size_t{1} << 20) : tree_(most) {}

  OwnChanges& own_changes() { return own_changes_; }
  ChangeNotices& notices() { return notices_; }
  const InodeWalk& walk() const { return walk_; }

  // `answered`: the request has just been answered, so the known state must do.
  //
  // With kYes the kernel holds `found` once more, until Forget. With kAsk request `found->ino`; if that is 0, list
  // `parent`.
  Known Lookup(uint64_t parent, std::string_view name, bool answered, Found* found);
  // For a removed node, its last attributes.
  Known Look(uint64_t ino, bool answered, Found* found) const;
  Known List(uint64_t ino, bool answered, std::vector<Line>* lines);
  Known ReadLink(uint64_t ino, std::string* target) const;
  void Forget(uint64_t ino, uint64_t times);
  // Counts as one more lookup by the kernel, until Forget.
  void Hold(uint64_t ino);
  // The node of `name`, or 0 if unknown.
  uint64_t Child(uint64_t parent, std::string_view name) const;

  // The path for a request about `ino`, and the doubt that its answer must carry. False if it was removed.
  bool Ask(uint64_t ino, std::string* path, Doubt* doubt) const;
  // The answers to those requests.
  Invalidations PutListing(uint64_t ino, Doubt doubt, const std::vector<manifest::Entry>& entries);
  Invalidations PutEntry(uint64_t ino, Doubt doubt, const manifest::Entry& entry);
  Invalidations PutAbsent(uint64_t ino, Doubt doubt);

  // Whether changes are reported from now on. Either way everything known is in doubt.
  Invalidations Watch(bool watched);
  void SetAway(bool away);
  bool IsAway() const;
  // How long the kernel may cache an answer.
  double TrustSeconds() const;
  size_t size() const;

 private:
  InodeTree tree_;
  OwnChanges own_changes_{&tree_};
  ChangeNotices notices_{&tree_};
  InodeWalk walk_{tree_};
};

}  // namespace keibi::mount
