// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "manifest/segment.h"
#include "share/write_wire.h"

// Frames of writes, their outcomes (PROTOCOL 11.2) and segments (PROTOCOL 5.2). No accepted record reaches beyond the
// frame or the longest file, and each encodes to the bytes it came from.
using keibi::fuzz::Check;
using keibi::manifest::Segment;
using keibi::share::Write;
using keibi::share::Written;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Write write;
  if (Write::Take(data, size, &write)) {
    Check(size > Write::kHeaderBytes && write.offset + (size - Write::kHeaderBytes) <= keibi::core::kMaxFileBytes);
    uint8_t header[Write::kHeaderBytes];
    write.WriteHeader(header);
    Check(std::equal(header, header + sizeof header, data));
  }
  const uint8_t* const end = data + size;
  const uint8_t* at = data;
  Written written;
  for (const uint8_t* from = at; Written::Take(&at, end, &written); from = at) {
    std::vector<uint8_t> again;
    written.Append(&again);
    Check(std::equal(from, at, again.begin(), again.end()));
    (void)keibi::share::StatusOf(written.outcome);
  }
  at = data;
  Segment segment;
  for (const uint8_t* from = at; Segment::Take(&at, end, &segment); from = at) {
    Check(at <= end && at == segment.data + (segment.IsHole() ? 0 : segment.length));
    uint8_t header[Segment::kHeaderBytes];
    segment.WriteHeader(header);
    Check(std::equal(header, header + sizeof header, from));
  }
  return 0;
}
