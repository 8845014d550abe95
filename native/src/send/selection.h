// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"
#include "send/ignore_patterns.h"

namespace keibi::send {

// Names that a walk leaves out.
struct SelectionOptions {
  std::string exclude = {};  // patterns, one a line, for each root's folder
  bool gitignore = false;    // also those of the files .gitignore on the way
};

// The patterns of the files .gitignore of a directory and of those above it, up to the root.
struct IgnoreScope {
  std::shared_ptr<const IgnoreScope> outer;  // null at the top
  IgnorePatterns patterns;
  size_t folder_bytes;  // of the path of the directory, with its slash
};

// Decides which names below a root are sent. Immutable; any thread.
class Selection {
 public:
  // A longer .gitignore is an error: what it would leave out must not be sent.
  static constexpr size_t kMaxIgnoreFileBytes = size_t{1} << 20;

  explicit Selection(const SelectionOptions& options) : exclude_(options.exclude), gitignore_(options.gitignore) {}

  // Adds the patterns of an open directory to the scope. `folder`: its path below the root with a slash at its end,
  // empty for the root. kLimitExceeded or kSourceUnreadable for its .gitignore; `scope` is then not changed.
  core::Status Enter(int directory, std::string_view folder, std::shared_ptr<const IgnoreScope>* scope) const;

  // `path` is below the root, without a leading slash. The options decide before the files, inner files before outer.
  bool LeavesOut(const IgnoreScope* scope, std::string_view path, bool is_directory) const;

  bool active() const { return gitignore_ || !exclude_.empty(); }

 private:
  const IgnorePatterns exclude_;
  const bool gitignore_;
};

}  // namespace keibi::send
