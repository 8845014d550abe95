// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.h"
#include "core/status.h"

namespace keibi::manifest {

enum class EntryType : uint8_t { kFile = 1, kDirectory = 2, kSymlink = 3, kStream = 4 };

inline constexpr uint32_t kTop = 0xFFFFFFFF;  // the parent of an entry without one; also "no entry"

// One line of a manifest (PROTOCOL 6). The views point into the page it was parsed from.
struct Entry {
  EntryType type = EntryType::kFile;
  uint16_t mode = 0;
  uint32_t parent = kTop;
  int64_t mtime_ns = 0;
  uint64_t size = 0;    // bytes
  bool sparse = false;  // a file of more than one chunk that may hold less data than its size
  std::string_view name;
  std::string_view target;

  bool IsFile() const { return type == EntryType::kFile || type == EntryType::kStream; }
};

inline constexpr uint16_t kSparseMode = 0x8000;  // the bit of the mode field that means `sparse`

// No name at the top may begin with it: the receiving peer keeps unfinished files there (PROTOCOL 6).
inline constexpr std::string_view kStagingName = ".keibidrop-partial";

inline constexpr size_t kLeastEntryBytes = 25 + 1;
inline constexpr size_t kMaxEntryBytes = 25 + core::kMaxNameBytes + 2 + core::kMaxTargetBytes;

void AppendEntry(std::vector<uint8_t>* page, const Entry& entry);

// Parses the entry at *offset and moves *offset past it. Checks lengths, type, mode, size and name, but not the parent.
// Errors: kHandshakeMalformed (cut short or unknown type), kLimitExceeded, kPathRefused.
core::Status ParseEntry(const uint8_t* page, size_t page_bytes, size_t* offset, Entry* entry);

bool IsUtf8(std::string_view text);
bool IsAcceptableName(std::string_view name);
// For display: writes each byte that is not UTF-8 as \xNN.
std::string EscapedPath(std::string_view path);

}  // namespace keibi::manifest
