// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keibi::send {

// The answer of one source of patterns about a path.
enum class Verdict { kNone, kLeaveOut, kKeep };

// Patterns of paths to leave out, in the format of gitignore(5). Names are bytes. The last pattern that matches
// decides. Matching takes at most the product of the lengths of pattern and path.
class IgnorePatterns {
 public:
  IgnorePatterns() = default;
  explicit IgnorePatterns(std::string_view text);

  // `path` is relative to the folder of the patterns, without a leading slash.
  Verdict Judge(std::string_view path, bool is_directory) const;
  bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::vector<std::string> segments;  // between slashes; "**" is any number of names
    bool keep;
    bool directories_only;
    bool anchored;  // else its one segment is compared with the last name of the path
  };

  void AddLine(std::string_view line);

  std::vector<Pattern> patterns_;
};

}  // namespace keibi::send
