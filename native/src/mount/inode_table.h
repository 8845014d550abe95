// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "manifest/entry.h"
#include "mount/host_messages.h"
#include "mount/inode_numbers.h"

namespace keibi::mount {

inline constexpr uint64_t kRootIno = 1;

// The known attributes of one file, directory or symlink.
struct Attributes {
  stream::EntryType type = stream::EntryType::kDirectory;
  uint16_t mode = 0755;
  int64_t mtime_ns = 0;
  uint64_t size = 0;

  bool operator==(const Attributes&) const = default;
};

struct Found {
  uint64_t ino = 0;
  uint64_t number = 0;  // the inode number that programs see (inode_numbers.h)
  Attributes attributes;
  bool sure = false;  // else it was true a moment ago: the kernel must not cache it
  bool gone = false;  // it has no name any more
};

// One entry of a directory, as of when it was opened.
struct Line {
  uint64_t number;
  stream::EntryType type;
  std::string name;
};

// Tells the kernel to forget `name` in the directory `parent`, if set; the attributes of `ino`, if set, and with
// `content` also its pages.
struct Invalidation {
  uint64_t parent = 0;
  std::string name;
  uint64_t ino = 0;
  bool content = false;
};

// An entry that a walk over the tree reaches: a small file, or a directory.
struct Upcoming {
  uint64_t ino = 0;
  bool directory = false;
  bool listed = false;  // a directory whose listing is known
  uint64_t bytes = 0;
};

// The other peer's tree, as far as it was requested. The watch state decides what counts as known without a request.
// With a watch: everything that no change notice has put in doubt. Without one: entries less than a second old. While
// the peer is away: everything. Any thread.
class InodeTable {
 public:
  enum class Known { kYes, kAbsent, kAsk };
  // The state of doubt when a request was sent. A change reported since then overrides its answer.
  using Doubt = uint64_t;
  using Invalidations = std::vector<Invalidation>;

  // `most`: the number of nodes kept, unless the kernel holds more.
  explicit InodeTable(size_t most = size_t{1} << 20);
  ~InodeTable();

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

  // The path for a request about `ino`, and the doubt that its answer must carry. False if it was removed.
  bool Ask(uint64_t ino, std::string* path, Doubt* doubt) const;
  // The answers to those requests.
  Invalidations PutListing(uint64_t ino, Doubt doubt, const std::vector<stream::Entry>& entries);
  Invalidations PutEntry(uint64_t ino, Doubt doubt, const stream::Entry& entry);
  Invalidations PutAbsent(uint64_t ino, Doubt doubt);

  // For a directory, all kinds but kChanged cover the nodes below it.
  //
  // `look`: nodes that we changed ourselves; the notice may be a late echo of that. They stay valid until a look, which
  // the caller must request now.
  using Change = message::Changes::Change::Kind;
  Invalidations Apply(Change change, std::string_view path, std::vector<uint64_t>* look);
  // The look at such a node failed.
  Invalidations Doubted(uint64_t ino);
  // Files in the same directory whose names begin with that of `ino`, such as the journal of a database.
  std::vector<uint64_t> Beside(uint64_t ino) const;
  // Another peer may have changed, made or removed them.
  Invalidations DoubtedBeside(uint64_t ino);
  // The result of our own operation contradicts the known entry of that name.
  Invalidations DoubtedName(uint64_t parent, std::string_view name);

  // Our own changes, once the other peer has made them. The kernel already knows of them.
  //
  // With `found` the kernel holds the new node once more.
  void Made(uint64_t parent, const stream::Entry& entry, Found* found);
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
  void Changed(uint64_t ino, const stream::Entry& entry, What what);
  // The node of `name`, or 0 if unknown.
  uint64_t Child(uint64_t parent, std::string_view name) const;

  // We have bytes that the other peer lacks: until Unpin no answer or notice removes the node. False if it has no name
  // any more.
  bool Pin(uint64_t ino);
  // True if it needs a look: a notice came meanwhile.
  bool Unpin(uint64_t ino);
  // Renames it to `name` in the same directory. The entry that now has its old name is unknown.
  Invalidations MoveAside(uint64_t ino, std::string_view name);
  // Counts as one more lookup by the kernel, until Forget.
  void Hold(uint64_t ino);

  // Whether changes are reported from now on. Either way everything known is in doubt.
  Invalidations Watch(bool watched);
  void SetAway(bool away);
  bool IsAway() const;

  // Its directory; 0 if it has no name any more.
  uint64_t DirectoryOf(uint64_t ino) const;
  // Whether it is somewhere below `directory`.
  bool IsBelow(uint64_t ino, uint64_t directory) const;
  // Behind returns the successors of `ino` in a walk over `top`: in name order, each directory before its entries. It
  // returns at most `most` directories and files of 1 to `most_bytes` bytes.
  // listings() rises with each listing: Behind may then return more.
  uint64_t listings() const;
  std::vector<Upcoming> Behind(uint64_t ino, uint64_t top, size_t most, uint64_t most_bytes) const;

  // How long the kernel may cache an answer.
  double TrustSeconds() const;
  size_t size() const;

 private:
  struct Node;
  using Time = std::chrono::steady_clock::time_point;

  Node* NodeOf(uint64_t ino) const;
  Node* NodeAt(std::string_view path) const;
  bool Believed(Doubt known, Doubt doubted, Time seen) const;
  bool IsListed(const Node& directory) const;
  Found FoundOf(const Node& node) const;
  Node* Add(Node* parent, std::string_view name, stream::EntryType type);
  void Detach(Node* node, Invalidations* announced);
  static Invalidation Forgetting(const Node& node, bool content);
  void DoubtAll(Node* node, Invalidations* announced);
  void Set(Node* node, Doubt doubt, const stream::Entry& entry, Invalidations* announced);
  void Trim(const Node* keep);
  void Erase(Node* node);
  void OwnWork(Node* directory);
  Node* NodeBehind(const Node* node, const Node* top) const;
  static bool IsOfBefore(const Node& node, Doubt doubt);
  static bool HasPinned(const Node& node);
  void Move(Node* node, Node* parent, std::string_view name);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Node>> nodes_;
  const size_t most_;
  uint64_t name_bytes_ = 0;  // names and symlink targets
  uint64_t last_ino_ = kRootIno;
  InodeNumbers inode_numbers_;
  uint64_t listings_ = 0;
  Doubt doubts_ = 1;       // rises with each change that puts something in doubt
  Doubt all_doubted_ = 1;  // answers to requests older than this are in doubt
  bool watched_ = false;
  bool away_ = false;
};

}  // namespace keibi::mount
