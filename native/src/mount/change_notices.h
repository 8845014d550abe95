// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mount/host_messages.h"
#include "mount/inode_tree.h"

namespace keibi::mount {

// Changes by others: what their notices, and contradictory answers, put in doubt. Any thread; takes the tree's mutex.
class ChangeNotices {
 public:
  explicit ChangeNotices(InodeTree* tree) : tree_(tree) {}

  // For a directory, all kinds but kChanged cover the nodes below it.
  //
  // `look`: nodes that we changed ourselves; the notice may be a late echo of that. They stay valid until a look, which
  // the caller must request now.
  using Change = message::Changes::Change::Kind;
  Invalidations Apply(Change change, std::string_view path, std::vector<uint64_t>* look);
  // The look at such a node failed.
  Invalidations Doubted(uint64_t ino);
  // Another peer may have changed, made or removed the files beside it (InodeWalk::Beside).
  Invalidations DoubtedBeside(uint64_t ino);
  // The result of our own operation contradicts the known entry of that name.
  Invalidations DoubtedName(uint64_t parent, std::string_view name);

 private:
  InodeTree* const tree_;
};

}  // namespace keibi::mount
