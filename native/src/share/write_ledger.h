// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "share/lock_table.h"
#include "share/served_files.h"
#include "share/write_handle.h"
#include "share/write_journal.h"

namespace keibi::share {

// The base of a put (PROTOCOL 11.2).
struct PutBase {
  std::optional<disk::FileVersion> version;  // none: any content
  OverlayToken token{};
  uint64_t keep = 0;  // the first bytes of it that remain valid
};

// Which files of a folder are open for writing, and the version in which each overlay left its file. An overlay can
// thus continue its work in another session, and with a journal even after a kill. No overlay overwrites another
// program's changes. Any thread; may block.
class WriteLedger {
 public:
  explicit WriteLedger(std::shared_ptr<WriteJournal> journal = nullptr) : journal_(std::move(journal)) {}

  // A file is open once. Closes the same overlay's earlier file first, so that nothing more of that is written.
  // kSourceChanged if the content is neither the base nor what the overlay left; kSourceMissing, kPathRefused;
  // kCallFailed with the errno: EBUSY while another overlay writes the file, or another program has locked it. `locks`:
  // the writer's own locks, which do not conflict; may be null.
  core::Status Open(const ServedFolder& folder, std::string_view path, const PutBase& base,
                    std::shared_ptr<WriteHandle>* file, const std::shared_ptr<LockTable>& locks = nullptr);
  // Like WriteHandle::Commit, with the same check as Open.
  core::Status Commit(const std::shared_ptr<WriteHandle>& file, const Finish& finish, std::vector<uint8_t>* entry);
  void Close(const std::shared_ptr<WriteHandle>& file);  // idempotent

  // The counts of all guests' locks in this folder.
  const std::shared_ptr<LockRoom>& lock_room() const { return lock_room_; }

 private:
  // How many overlays are remembered: the most recent ones.
  static constexpr size_t kMostOverlays = 16384;
  struct DirtyFile {
    disk::FileVersion left;
    std::list<OverlayToken>::iterator used;
  };

  struct Opened {
    std::shared_ptr<WriteHandle> file;
    PutBase base;
  };

  bool MayChangeLocked(const PutBase& base, const WriteHandle::Inode& inode, const disk::FileVersion& version) const;
  std::shared_ptr<WriteHandle> OpenOf(const OverlayToken& token);
  void Leave(const std::shared_ptr<WriteHandle>& file, const std::optional<disk::FileVersion>& left);

  const std::shared_ptr<WriteJournal> journal_;
  const std::shared_ptr<LockRoom> lock_room_ = std::make_shared<LockRoom>();
  std::mutex mutex_;
  std::map<OverlayToken, Opened> open_;
  std::map<WriteHandle::Inode, OverlayToken> writers_;
  std::map<OverlayToken, DirtyFile> overlays_;
  std::list<OverlayToken> used_;  // most recently used first
};

}  // namespace keibi::share
