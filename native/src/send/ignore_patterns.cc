// SPDX-License-Identifier: MPL-2.0
#include "send/ignore_patterns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

namespace keibi::send {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kAnyNames = "**";

std::vector<std::string> SplitAtSlashes(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t slash = text.find('/');
    parts.emplace_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    text.remove_prefix(slash + 1);
  }
}

// Spaces at the end count only after a backslash.
std::string_view WithoutTrailingSpaces(std::string_view line) {
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

using CharacterTest = int (*)(int);
constexpr std::array<std::pair<std::string_view, CharacterTest>, 12> kClasses{{{"alnum", isalnum},
                                                                               {"alpha", isalpha},
                                                                               {"blank", isblank},
                                                                               {"cntrl", iscntrl},
                                                                               {"digit", isdigit},
                                                                               {"graph", isgraph},
                                                                               {"lower", islower},
                                                                               {"print", isprint},
                                                                               {"punct", ispunct},
                                                                               {"space", isspace},
                                                                               {"upper", isupper},
                                                                               {"xdigit", isxdigit}}};

bool IsInClass(std::string_view name, unsigned char c) {
  const auto found =
      std::find_if(kClasses.begin(), kClasses.end(), [&](const auto& each) { return each.first == name; });
  return found != kClasses.end() && found->second(c) != 0;
}

// Reads one character of a bracket expression and moves `at` behind it; nullopt at the end of the pattern.
std::optional<unsigned char> LiteralAt(std::string_view glob, size_t* at) {
  if (*at < glob.size() && glob[*at] == '\\') ++*at;
  if (*at >= glob.size()) return std::nullopt;
  return static_cast<unsigned char>(glob[(*at)++]);
}

// Matches `c` with the bracket expression at `*at`, just behind its '['. False, with `*at` unchanged, if it has no end.
bool MatchesBracket(std::string_view glob, size_t* at, unsigned char c) {
  size_t next = *at;
  const bool negated = next < glob.size() && (glob[next] == '!' || glob[next] == '^');
  if (negated) next++;
  bool found = false;
  for (bool first = true; next < glob.size(); first = false) {
    if (glob[next] == ']' && !first) {
      *at = next + 1;
      return found != negated;
    }
    if (const size_t end = glob.find(":]", next);
        glob.substr(next).starts_with("[:") && end != std::string_view::npos) {
      found = found || IsInClass(glob.substr(next + 2, end - next - 2), c);
      next = end + 2;
      continue;
    }
    const std::optional<unsigned char> low = LiteralAt(glob, &next);
    std::optional<unsigned char> high = low;
    if (next + 1 < glob.size() && glob[next] == '-' && glob[next + 1] != ']') high = LiteralAt(glob, &++next);
    found = found || (low && high && *low <= c && c <= *high);
  }
  return false;
}

// Matches one character at `*at` of a pattern that is not '*', and moves `at` behind it.
bool MatchesOne(std::string_view glob, size_t* at, unsigned char c) {
  const char first = glob[(*at)++];
  if (first == '?') return true;
  if (first == '[') return MatchesBracket(glob, at, c);
  if (first == '\\' && *at < glob.size()) return static_cast<unsigned char>(glob[(*at)++]) == c;
  return static_cast<unsigned char>(first) == c;
}

// Matches one name. Only the last '*' is ever tried again: an earlier one cannot lead to more.
bool MatchesName(std::string_view glob, std::string_view name) {
  size_t at = 0, i = 0, star = std::string_view::npos, resume = 0;
  while (i < name.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = ++at;
      resume = i;
      continue;
    }
    if (at < glob.size() && MatchesOne(glob, &at, static_cast<unsigned char>(name[i]))) {
      i++;
      continue;
    }
    if (star == std::string_view::npos) return false;
    at = star;
    i = ++resume;
  }
  while (at < glob.size() && glob[at] == '*') at++;
  return at == glob.size();
}

// `reachable[n]`: the segments so far match the first n names.
bool MatchesNames(const std::vector<std::string>& segments, const std::vector<std::string>& names) {
  std::vector<bool> reachable(names.size() + 1, false);
  reachable[0] = true;
  for (size_t s = 0; s < segments.size(); s++) {
    const bool any = segments[s] == kAnyNames;
    // At the end of a pattern "**" is all that lies within, not the folder itself.
    const size_t least = any && s + 1 == segments.size() ? 1 : 0;
    std::vector<bool> after(names.size() + 1, false);
    bool before = false;
    for (size_t n = 0; n <= names.size(); n++) {
      if (any) {
        if (n >= least) before = before || reachable[n - least];
        after[n] = before;
      } else if (n > 0) {
        after[n] = reachable[n - 1] && MatchesName(segments[s], names[n - 1]);
      }
    }
    reachable = std::move(after);
  }
  return reachable[names.size()];
}

}  // namespace

IgnorePatterns::IgnorePatterns(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    AddLine(WithoutTrailingSpaces(line));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void IgnorePatterns::AddLine(std::string_view line) {
  if (line.empty() || line.starts_with('#')) return;
  const bool keep = line.starts_with('!');
  if (keep) line.remove_prefix(1);
  const bool directories_only = line.ends_with('/');
  if (directories_only) line.remove_suffix(1);
  const bool anchored = line.find('/') != std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  if (!line.empty()) patterns_.push_back({SplitAtSlashes(line), keep, directories_only, anchored});
}

Verdict IgnorePatterns::Judge(std::string_view path, bool is_directory) const {
  const std::vector<std::string> names = SplitAtSlashes(path);
  const auto matches = [&](const Pattern& pattern) {
    if (pattern.directories_only && !is_directory) return false;
    return pattern.anchored ? MatchesNames(pattern.segments, names) : MatchesName(pattern.segments[0], names.back());
  };
  const auto last = std::find_if(patterns_.rbegin(), patterns_.rend(), matches);
  if (last == patterns_.rend()) return Verdict::kNone;
  return last->keep ? Verdict::kKeep : Verdict::kLeaveOut;
}

}  // namespace keibi::send
