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

namespace keibi::stream {

// The base of a put (PROTOCOL 11.2).
struct PutBase {
  std::optional<FileState> state;  // none: any content
  DraftToken token{};
  uint64_t keep = 0;  // the first bytes of it that remain valid
};

// Which files of a folder are open for writing, and the state in which each draft left its file. A draft can thus
// continue its work in another session, and with a journal even after a kill. No draft overwrites another program's
// changes. Any thread; may block.
class WriteLedger {
 public:
  explicit WriteLedger(std::shared_ptr<WriteJournal> journal = nullptr) : journal_(std::move(journal)) {}

  // A file is open once. Closes the same draft's earlier file first, so that nothing more of that is written.
  // kSourceChanged if the content is neither the base nor what the draft left; kSourceMissing, kPathRefused;
  // kCallFailed with the errno: EBUSY while another draft writes the file, or another program has locked it. `locks`:
  // the writer's own locks, which do not conflict; may be null.
  core::Status Open(const ServedFolder& folder, std::string_view path, const PutBase& base,
                    std::shared_ptr<WriteHandle>* file, const std::shared_ptr<LockTable>& locks = nullptr);
  // Like WriteHandle::Commit, with the same check as Open.
  core::Status Commit(const std::shared_ptr<WriteHandle>& file, const Finish& finish, std::vector<uint8_t>* entry);
  void Close(const std::shared_ptr<WriteHandle>& file);  // idempotent

  // The counts of all guests' locks in this folder.
  const std::shared_ptr<LockRoom>& lock_room() const { return lock_room_; }

 private:
  // How many drafts are remembered: the most recent ones.
  static constexpr size_t kMostDrafts = 16384;
  struct DirtyFile {
    FileState left;
    std::list<DraftToken>::iterator used;
  };

  struct Opened {
    std::shared_ptr<WriteHandle> file;
    PutBase base;
  };

  bool MayChangeLocked(const PutBase& base, const WriteHandle::Inode& inode, const FileState& state) const;
  std::shared_ptr<WriteHandle> OpenOf(const DraftToken& token);
  void Leave(const std::shared_ptr<WriteHandle>& file, const std::optional<FileState>& left);

  const std::shared_ptr<WriteJournal> journal_;
  const std::shared_ptr<LockRoom> lock_room_ = std::make_shared<LockRoom>();
  std::mutex mutex_;
  std::map<DraftToken, Opened> open_;
  std::map<WriteHandle::Inode, DraftToken> writers_;
  std::map<DraftToken, DirtyFile> drafts_;
  std::list<DraftToken> used_;  // most recently used first
};

}  // namespace keibi::stream
