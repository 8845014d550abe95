// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "core/status.h"
#include "manifest/entry.h"

namespace keibi::manifest {

// All entries of one transfer, by number. Grows only at the end; the views that Find returned stay valid for the
// table's life. Any thread may read while one appends.
class EntryTable {
 public:
  // One page as sent. `bytes` belongs to the table.
  struct Page {
    uint32_t first = 0;
    uint32_t count = 0;
    const uint8_t* bytes = nullptr;
    size_t size = 0;
  };

  static constexpr size_t kPageTargetBytes = size_t{64} << 10;

  // Sending peer: appends to the page being filled and returns the entry's number, or kTop when the table is full.
  // Close the page when it has reached kPageTargetBytes.
  uint32_t Append(const Entry& entry);
  size_t OpenPageBytes() const;
  Page ClosePage();  // the page filled since the last call; count 0 if it is empty

  // Receiving peer: copies a whole page from the other side, or refuses all of it: kHandshakeMalformed, kLimitExceeded,
  // kPathRefused (a bad name, or a parent that is not an earlier directory).
  core::Status AddPage(const uint8_t* bytes, size_t size, uint32_t first, uint32_t count);

  bool Find(uint32_t index, Entry* entry) const;
  uint32_t size() const;
  std::string PathOf(uint32_t index) const;  // relative, with slashes; for messages and for the staging key

 private:
  struct Block {
    uint32_t first = 0;
    std::vector<uint8_t> bytes;     // never reallocated: views point into it
    std::vector<uint32_t> offsets;  // of each entry
  };

  bool FindLocked(uint32_t index, Entry* entry) const;

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
  uint32_t count_ = 0;
  uint32_t closed_ = 0;  // entries already handed out by ClosePage
};

}  // namespace keibi::manifest
