// SPDX-License-Identifier: MPL-2.0
#include "receive/collision_name.h"

#include "core/limits.h"

namespace keibi::receive {

std::string CollisionName(std::string_view name, int number) {
  const std::string mark = " (" + std::to_string(number) + ")";
  constexpr size_t kLongestExtension = 32;  // longer text after a dot is part of a sentence
  const size_t dot = name.rfind('.');
  const bool has_extension = dot != std::string_view::npos && dot > 0 && name.size() - dot <= kLongestExtension;
  std::string_view stem = has_extension ? name.substr(0, dot) : name;
  const std::string_view extension = has_extension ? name.substr(dot) : "";
  const size_t room = core::kMaxNameBytes - mark.size() - extension.size();
  if (stem.size() > room) {
    size_t cut = room;
    while (cut > 0 && (static_cast<unsigned char>(stem[cut]) & 0xC0) == 0x80) cut--;  // not inside a UTF-8 sequence
    stem = stem.substr(0, cut);
  }
  return std::string(stem) + mark + std::string(extension);
}

}  // namespace keibi::receive
