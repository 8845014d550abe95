// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "share/read_wire.h"

// Frames of reads and refusals (PROTOCOL 11.1). An accepted record encodes to the bytes it came from.
using keibi::share::ReadRequest;
using keibi::share::Refusal;

namespace {

template <typename Record>
void TakeAll(const uint8_t* at, const uint8_t* end) {
  Record record;
  for (const uint8_t* from = at; Record::Take(&at, end, &record); from = at) {
    keibi::fuzz::Check(from < at && at <= end);
    std::vector<uint8_t> again;
    record.Append(&again);
    keibi::fuzz::Check(std::equal(from, at, again.begin(), again.end()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TakeAll<ReadRequest>(data, data + size);
  TakeAll<Refusal>(data, data + size);
  return 0;
}
