// SPDX-License-Identifier: MPL-2.0
#include "mount/conflict_name.h"

#include <array>
#include <ctime>

#include "core/limits.h"

namespace keibi::mount {
namespace {

// The longest prefix of at most `most` bytes that does not split a UTF-8 character.
std::string_view FirstBytes(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) most--;
  return text.substr(0, most);
}

}  // namespace

std::string ConflictName(std::string_view name, std::string_view date, std::string_view label, int number) {
  constexpr size_t kMostLabelBytes = 64;
  constexpr size_t kMostEndBytes = 32;
  const size_t dot = name.rfind('.');
  const bool has_end = dot != std::string_view::npos && dot > 0 && name.size() - dot <= kMostEndBytes;
  const std::string_view end = has_end ? name.substr(dot) : std::string_view();
  const std::string_view stem = name.substr(0, name.size() - end.size());
  std::string middle = " (conflict ";
  middle.append(date).append(" ").append(FirstBytes(label, kMostLabelBytes));
  if (number > 1) middle += " " + std::to_string(number);
  middle.append(")").append(end);
  return std::string(FirstBytes(stem, core::kMaxNameBytes - middle.size())) + middle;
}

std::string DateOfToday() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  localtime_r(&now, &day);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &day);
  return text.data();
}

}  // namespace keibi::mount
