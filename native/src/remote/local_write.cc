// SPDX-License-Identifier: MPL-2.0
#include "remote/local_write.h"

#include <algorithm>

#include "share/write_wire.h"

namespace keibi::remote {
namespace {

using core::Code;
using core::Status;

Status Copy(const DirtyFile& overlay, const std::vector<disk::ByteRange>& ranges, share::WriteHandle* file) {
  std::vector<uint8_t> buffer(share::Write::kMaxBytes);
  for (const auto& [offset, length] : ranges) {
    for (uint64_t done = 0; done < length;) {
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(buffer.size(), length - done));
      Status status = overlay.Read(offset + done, buffer.data(), bytes);
      if (status.ok()) status = file->Write(offset + done, buffer.data(), bytes);
      if (!status.ok()) return status;
      done += bytes;
    }
  }
  return Status::Ok();
}

}  // namespace

Status WriteLocally(share::WriteLedger* ledger, const share::ServedFolder& folder, const LocalWrite& put,
                    std::vector<uint8_t>* entry) {
  DirtyFile overlay;
  if (!disk::AreInOrder(put.ranges, put.finish.version.size)) return Status::Of(Code::kSizeMismatch);
  if (!put.ranges.empty()) {
    // The overlay is our own file: if it is missing, the source is not at fault.
    if (!overlay.Open(put.directory, put.key).ok()) return Status::Of(Code::kDestinationUnusable);
  }
  std::shared_ptr<share::WriteHandle> file;
  if (const Status status = ledger->Open(folder, put.path, put.base, &file, put.locks); !status.ok()) return status;
  if (const Status status = Copy(overlay, put.ranges, file.get()); !status.ok()) {
    ledger->Close(file);
    return status;
  }
  return ledger->Commit(file, put.finish, entry);
}

}  // namespace keibi::remote
