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

#include "mount/numbers.h"
#include "stream/entry.h"

namespace keibi::mount {

inline constexpr uint64_t kRootIno = 1;

// What is known of one file, directory or symlink.
struct Attributes {
  stream::EntryType type = stream::EntryType::kDirectory;
  uint16_t mode = 0755;
  int64_t mtime_ns = 0;
  uint64_t size = 0;

  bool operator==(const Attributes&) const = default;
};

struct Found {
  uint64_t ino = 0;
  uint64_t number = 0;  // of the inode, as programs are shown it (numbers.h)
  Attributes attributes;
  bool sure = false;  // else true a moment ago: the kernel must not keep it
  bool gone = false;  // it has no name any more
};

// One line of a directory, as it was when it was opened.
struct Line {
  uint64_t number;
  stream::EntryType type;
  std::string name;
};

// What the kernel has to forget. `name` of the directory `parent`, if there is one; of `ino`, if there is one, what is
// known and, with `content`, its pages.
struct Invalidation {
  uint64_t parent = 0;
  std::string name;
  uint64_t ino = 0;
  bool content = false;
};

// What a walk over the tree comes to: a small file, or a directory.
struct Upcoming {
  uint64_t ino = 0;
  bool directory = false;
  bool listed = false;  // a directory of which that is known
  uint64_t bytes = 0;
};

// The other peer's tree, as far as it was asked for. It knows what it may still say without asking: with the change
// notices of a watch everything that no notice has put in doubt, without one what is not a second old, and while the
// peer is away whatever it has. Any thread.
class Tree {
 public:
  enum class Known { kYes, kAbsent, kAsk };
  // Of a question: what was in doubt when it was put. A change that is told meanwhile goes before its answer.
  using Doubt = uint64_t;
  using Invalidations = std::vector<Invalidation>;

  // `most`: nodes kept, if the kernel does not hold more.
  explicit Tree(size_t most = size_t{1} << 20);
  ~Tree();

  // `answered`: the question has just been answered, so that whatever is here has to do.
  //
  // With kYes the kernel holds `found` once more, until Forget. With kAsk `found->ino` is what to look at; if that is
  // 0, `parent` is to be listed.
  Known Lookup(uint64_t parent, std::string_view name, bool answered, Found* found);
  // Of one that is no more, what it was.
  Known Look(uint64_t ino, bool answered, Found* found) const;
  Known List(uint64_t ino, bool answered, std::vector<Line>* lines);
  Known ReadLink(uint64_t ino, std::string* target) const;
  void Forget(uint64_t ino, uint64_t times);

  // The path of a question about `ino`, and what its answer has to bring back; false: it is no more.
  bool Ask(uint64_t ino, std::string* path, Doubt* doubt) const;
  // The answers.
  Invalidations PutListing(uint64_t ino, Doubt doubt, const std::vector<stream::Entry>& entries);
  Invalidations PutEntry(uint64_t ino, Doubt doubt, const stream::Entry& entry);
  Invalidations PutAbsent(uint64_t ino, Doubt doubt);

  // Of a directory that was made or removed it holds for all below.
  //
  // `look`: files and directories that are our own work, of which the notice is perhaps a late echo. They are believed
  // until somebody has looked at them, which is to be done now.
  enum class Change : uint8_t { kMade = 1, kChanged = 2, kRemoved = 3 };
  Invalidations Apply(Change change, std::string_view path, std::vector<uint64_t>* look);
  // Nobody could look.
  Invalidations Doubted(uint64_t ino);
  // Files whose names begin with that of `ino`, in its directory, as the journal of a database does.
  std::vector<uint64_t> Beside(uint64_t ino) const;
  // Another may have changed them, and which there are.
  Invalidations DoubtedBeside(uint64_t ino);
  // What we wanted to do with a name there says that it is not what we believe.
  Invalidations DoubtedName(uint64_t parent, std::string_view name);

  // What we have done ourselves, once it is done there. The kernel knows that already.
  //
  // With `found` the kernel holds what was made once more.
  void Made(uint64_t parent, const stream::Entry& entry, Found* found);
  void Removed(uint64_t parent, std::string_view name);
  void Renamed(uint64_t from_parent, std::string_view from, uint64_t to_parent, std::string_view to, bool exchange);
  // We are about to make, take away or give this name: a notice of it is ours. Afterwards, whether there was one: what
  // has the name then is to be looked at.
  void Expect(uint64_t parent, std::string_view name);
  bool Expected(uint64_t parent, std::string_view name);
  // After that: the mtime that the directory has got by it. What else is known of it holds, if it did before.
  void Became(uint64_t ino, int64_t mtime_ns);
  // It is being renamed, or was, or could not be: an answer meanwhile may be about either name.
  void Moving(uint64_t ino, bool begins);
  // The mode of a file, and its size and time, are changed by two ways of which either may be the faster: what one
  // tells of the other's may be over, as may be what was asked before.
  enum class What { kAll, kMode, kContent };
  void Changed(uint64_t ino, const stream::Entry& entry, What what);
  // What `name` is, if that is known; 0 if not.
  uint64_t Child(uint64_t parent, std::string_view name) const;

  // We have bytes for it that the other peer lacks: until Unpin no answer and no notice takes it away.
  // False if it has no name any more.
  bool Pin(uint64_t ino);
  // True if it is to be looked at: a notice has been told meanwhile.
  bool Unpin(uint64_t ino);
  // It is `name` from now on, in the same directory; what has its name now, nobody knows.
  Invalidations MoveAside(uint64_t ino, std::string_view name);
  // As if the kernel held it once more, until Forget.
  void Hold(uint64_t ino);

  // From now on changes are told, or not. Either way all that was known is in doubt.
  Invalidations Watch(bool watched);
  void SetAway(bool away);
  bool IsAway() const;

  // The directory that it is in; 0 if it has no name any more.
  uint64_t DirectoryOf(uint64_t ino) const;
  // Whether it is somewhere below `directory`.
  bool IsBelow(uint64_t ino, uint64_t directory) const;
  // What comes behind `ino` when `top` is walked over in the order of the names, a directory before what is in it: at
  // most `most` directories and files of 1 to `most_bytes` bytes.
  // Rises with each listing: more may come then.
  uint64_t listings() const;
  std::vector<Upcoming> Behind(uint64_t ino, uint64_t top, size_t most, uint64_t most_bytes) const;

  // For how long the kernel may believe what it is told.
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
  void Detach(Node* node, Invalidations* told);
  static Invalidation Forgetting(const Node& node, bool content);
  void DoubtAll(Node* node, Invalidations* told);
  void Set(Node* node, Doubt doubt, const stream::Entry& entry, Invalidations* told);
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
  uint64_t name_bytes_ = 0;  // of names and targets
  uint64_t last_ino_ = kRootIno;
  Numbers numbers_;
  uint64_t listings_ = 0;
  Doubt doubts_ = 1;       // rises with all that puts something in doubt
  Doubt all_doubted_ = 1;  // what was asked for before is in doubt
  bool watched_ = false;
  bool away_ = false;
};

}  // namespace keibi::mount
