// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "disk/byte_range.h"
#include "remote/dirty_file.h"
#include "share/write_ledger.h"

namespace keibi::remote {

// A put to a folder of this machine.
struct LocalWrite {
  std::string path;
  share::PutBase base;
  share::Finish finish;
  std::string directory, key;  // of the overlay
  std::vector<disk::ByteRange> ranges;
  std::shared_ptr<share::LockTable> locks = nullptr;  // of the writer
};

// Writes the put in place, as a sharing peer writes data from lanes. Errors as of WriteLedger and DirtyFile;
// kSizeMismatch for ranges out of order. May block.
core::Status WriteLocally(share::WriteLedger* ledger, const share::ServedFolder& folder, const LocalWrite& put,
                          std::vector<uint8_t>* entry);

}  // namespace keibi::remote
