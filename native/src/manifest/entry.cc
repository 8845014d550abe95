// SPDX-License-Identifier: MPL-2.0
#include "manifest/entry.h"

#include "core/bytes.h"
#include "core/limits.h"

namespace keibi::manifest {
namespace {

using core::Code;
using core::LoadBigEndian;
using core::Status;

constexpr size_t kFixedBytes = 25;  // type 1, mode 2, parent 4, mtime 8, size 8, name length 2

template <typename T>
void Append(std::vector<uint8_t>* page, T value) {
  const size_t at = page->size();
  page->resize(at + sizeof value);
  core::StoreBigEndian<T>(page->data() + at, value);
}

void AppendText(std::vector<uint8_t>* page, std::string_view text) {
  Append<uint16_t>(page, static_cast<uint16_t>(text.size()));
  page->insert(page->end(), text.begin(), text.end());
}

// Length of the UTF-8 sequence that `lead` begins, and the range of its second byte (Unicode 15, table 3-7); 0 if
// invalid.
size_t SequenceBytes(uint8_t lead, uint8_t* second_low, uint8_t* second_high) {
  *second_low = 0x80;
  *second_high = 0xBF;
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return 2;
  if (lead == 0xE0) *second_low = 0xA0;
  if (lead == 0xED) *second_high = 0x9F;
  if (lead < 0xF0) return 3;
  if (lead == 0xF0) *second_low = 0x90;
  if (lead == 0xF4) *second_high = 0x8F;
  return 4;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    uint8_t low, high;
    const size_t length = SequenceBytes(static_cast<uint8_t>(text[at]), &low, &high);
    if (length == 0 || length > text.size() - at) return false;
    for (size_t i = 1; i < length; i++) {
      const auto byte = static_cast<uint8_t>(text[at + i]);
      if (byte < (i == 1 ? low : 0x80) || byte > (i == 1 ? high : 0xBF)) return false;
    }
    at += length;
  }
  return true;
}

std::string EscapedPath(std::string_view path) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string escaped;
  for (size_t at = 0; at < path.size();) {
    uint8_t low, high;
    const auto byte = static_cast<uint8_t>(path[at]);
    const std::string_view character = path.substr(at, SequenceBytes(byte, &low, &high));
    if (character.empty() || !IsUtf8(character)) {
      escaped += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      at++;
    } else {
      escaped += character;
      at += character.size();
    }
  }
  return escaped;
}

bool IsAcceptableName(std::string_view name) {
  if (name.empty() || name.size() > core::kMaxNameBytes || name == "." || name == "..") return false;
  return name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos && IsUtf8(name);
}

void AppendEntry(std::vector<uint8_t>* page, const Entry& entry) {
  Append<uint8_t>(page, static_cast<uint8_t>(entry.type));
  Append<uint16_t>(page, entry.sparse ? entry.mode | kSparseMode : entry.mode);
  Append<uint32_t>(page, entry.parent);
  Append<uint64_t>(page, static_cast<uint64_t>(entry.mtime_ns));
  Append<uint64_t>(page, entry.size);
  AppendText(page, entry.name);
  if (entry.type == EntryType::kSymlink) AppendText(page, entry.target);
}

Status ParseEntry(const uint8_t* page, size_t page_bytes, size_t* offset, Entry* entry) {
  const uint8_t* at = page + *offset;
  size_t left = page_bytes - *offset;
  const auto take_text = [&](std::string_view* text) {
    if (left < 2) return false;
    const size_t length = LoadBigEndian<uint16_t>(at);
    if (left - 2 < length) return false;
    *text = {reinterpret_cast<const char*>(at) + 2, length};
    at += 2 + length;
    left -= 2 + length;
    return true;
  };

  if (left < kFixedBytes) return Status::Of(Code::kHandshakeMalformed);
  if (at[0] < 1 || at[0] > 4) return Status::Of(Code::kHandshakeMalformed);
  entry->type = static_cast<EntryType>(at[0]);
  const auto mode = LoadBigEndian<uint16_t>(at + 1);
  entry->mode = mode & ~kSparseMode;
  entry->sparse = (mode & kSparseMode) != 0;
  entry->parent = LoadBigEndian<uint32_t>(at + 3);
  entry->mtime_ns = static_cast<int64_t>(LoadBigEndian<uint64_t>(at + 7));
  entry->size = LoadBigEndian<uint64_t>(at + 15);
  at += kFixedBytes - 2;
  left -= kFixedBytes - 2;
  entry->target = {};
  if (!take_text(&entry->name)) return Status::Of(Code::kHandshakeMalformed);
  if (entry->type == EntryType::kSymlink) {
    if (!take_text(&entry->target)) return Status::Of(Code::kHandshakeMalformed);
    if (entry->target.empty() || entry->target.find('\0') != std::string_view::npos || !IsUtf8(entry->target))
      return Status::Of(Code::kPathRefused);
    if (entry->target.size() > core::kMaxTargetBytes) return Status::Of(Code::kLimitExceeded);
  }
  if (entry->mode > 0777 || entry->size > core::kMaxFileBytes) return Status::Of(Code::kLimitExceeded);
  if (entry->type != EntryType::kFile && entry->size != 0) return Status::Of(Code::kHandshakeMalformed);
  if (entry->sparse && entry->size <= core::kChunkBytes) return Status::Of(Code::kHandshakeMalformed);
  if (entry->sparse && entry->size > core::kMaxSparseBytes) return Status::Of(Code::kLimitExceeded);
  if (!IsAcceptableName(entry->name)) return Status::Of(Code::kPathRefused);
  *offset = page_bytes - left;
  return Status::Ok();
}

}  // namespace keibi::manifest
