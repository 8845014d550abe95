// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "manifest/entry.h"

// A page of a manifest (PROTOCOL 6). An accepted entry keeps the limits and encodes to the bytes it came from; a
// refused entry leaves the offset unchanged.
using keibi::fuzz::Check;
using keibi::manifest::Entry;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t offset = 0;
  for (Entry entry; offset < size;) {
    const size_t from = offset;
    if (!keibi::manifest::ParseEntry(data, size, &offset, &entry).ok()) {
      Check(offset == from);
      return 0;
    }
    Check(keibi::manifest::IsAcceptableName(entry.name) && entry.mode <= 0777);
    Check(offset - from >= keibi::manifest::kLeastEntryBytes && offset - from <= keibi::manifest::kMaxEntryBytes);
    std::vector<uint8_t> again;
    keibi::manifest::AppendEntry(&again, entry);
    Check(std::equal(data + from, data + offset, again.begin(), again.end()));
  }
  return 0;
}
