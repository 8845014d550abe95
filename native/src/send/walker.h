// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "disk/dir_handles.h"
#include "manifest/entry_table.h"
#include "send/selection.h"

namespace keibi::send {

// A path to send, and the name the receiver sees.
struct Root {
  std::string path;  // chosen by a person: absolute, or empty for standard input
  std::string name;
  uint64_t generated_bytes = 0;  // if above a chunk: a file of so much generated noise; the path is then empty
  std::string beneath = {};      // not empty: an absolute folder, and a peer has named the path below it (beneath.h)
};

struct WalkTotals {
  uint32_t entries = 0;
  uint32_t files = 0;
  uint64_t bytes = 0;
  uint32_t left_out = 0;  // names that the selection leaves out; a folder counts once, with all that it holds
};

// Something on disk that cannot be offered. `entry` is kTop if it never became an entry; `path` is escaped for display.
struct WalkProblem {
  uint32_t entry = manifest::kTop;
  core::Status status;
  std::string path;
};

// Opens a root's file or directory. The only place that follows a symlink, if a person typed the path.
core::Status OpenRoot(const Root& root, int flags, core::Fd* fd);

// Walks roots depth first into a table, page by page, holding one directory's names at most. Runs on the caller's
// thread.
class Walker {
 public:
  struct Events {
    std::function<bool(const manifest::EntryTable::Page&)> on_page;  // may block for backpressure; false stops the walk
    std::function<void(WalkProblem)> on_problem;
  };

  // `tops` receives the root of every top entry, in the order of their numbers, each before its page.
  Walker(std::vector<Root> roots, std::vector<Root>* tops, manifest::EntryTable* table, disk::DirHandles* dirs,
         Events events, const SelectionOptions& selection = {})
      : roots_(std::move(roots)),
        tops_(tops),
        table_(table),
        dirs_(dirs),
        events_(std::move(events)),
        selection_(selection) {}

  WalkTotals Run();

 private:
  struct Pending {
    uint32_t directory;
    uint32_t depth;
    std::string folder =
        {};  // its path below the root, with a slash at its end; empty for the root or without selection
    std::shared_ptr<const IgnoreScope> scope = nullptr;
  };

  bool AddRoot(const Root& root);
  bool AddRootBeneath(const Root& root);
  bool AddChildren(Pending pending);
  bool AddChild(int directory, const Pending& parent, const char* name);
  bool Add(const manifest::Entry& entry, const Pending* parent);
  bool Flush(bool whatever_there_is);
  void Problem(uint32_t entry, core::Status status, std::string_view path);

  const std::vector<Root> roots_;
  std::vector<Root>* const tops_;
  manifest::EntryTable* const table_;
  disk::DirHandles* const dirs_;
  const Events events_;
  const Selection selection_;
  WalkTotals totals_;
  std::vector<Pending> pending_;
};

}  // namespace keibi::send
