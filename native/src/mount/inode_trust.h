// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "mount/host_messages.h"
#include "mount/inode_node.h"

namespace keibi::mount {

// Decides what counts as known without a request. With a watch: everything that no change has put in doubt. Without
// one: entries less than a second old. While the peer is away: everything. No lock: the tree's mutex guards it.
class InodeTrust {
 public:
  // The state of doubt now. A change that raises it overrides the answers to requests sent before.
  Doubt now() const { return doubts_; }
  Doubt Raise() { return ++doubts_; }

  bool Believes(const InodeNode& node) const { return Believes(node.known, node.doubted, node.seen); }
  bool BelievesListing(const InodeNode& directory) const {
    return Believes(directory.list_known, directory.list_doubted, directory.list_seen);
  }

  // Whether changes are reported from now on. Either way everything known is in doubt.
  void Watch(bool watched) {
    watched_ = watched;
    all_doubted_ = Raise();
  }
  void SetAway(bool away) { away_ = away; }
  bool IsAway() const { return away_; }
  // How long the kernel may cache an answer.
  double Seconds() const {
    return watched_ && !away_ ? kWatchedSeconds : std::chrono::duration<double>(kUnwatched).count();
  }

 private:
  static constexpr std::chrono::milliseconds kUnwatched{rules::kUnwatchedTrustMs};
  static constexpr double kWatchedSeconds = 3600;

  bool Believes(Doubt known, Doubt doubted, InodeNode::Time seen) const {
    if (known == 0) return false;
    if (away_) return true;
    if (known < std::max(doubted, all_doubted_)) return false;
    return watched_ || std::chrono::steady_clock::now() - seen < kUnwatched;
  }

  Doubt doubts_ = 1;       // rises with each change that puts something in doubt
  Doubt all_doubted_ = 1;  // answers to requests older than this are in doubt
  bool watched_ = false;
  bool away_ = false;
};

}  // namespace keibi::mount
