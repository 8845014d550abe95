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
#include "stream/lock_table.h"
#include "stream/put_journal.h"
#include "stream/served_files.h"
#include "stream/written_file.h"

namespace keibi::stream {

// What a put is made on (PROTOCOL 11.2).
struct PutBase {
  std::optional<FileState> state;  // nothing: whatever is there
  DraftToken token{};
  uint64_t keep = 0;  // bytes of it that still hold
};

// Which files of a folder are open to be written, and what each draft has left: so that one goes on with what it has
// begun, also in another session, and with a journal also after a kill, and nobody writes over what somebody else has
// changed. Any thread; may block.
class WriteLedger {
 public:
  explicit WriteLedger(std::shared_ptr<PutJournal> journal = nullptr) : journal_(std::move(journal)) {}

  // A file is open once. Of the same draft the one that is open is closed before: nothing of it is written any more.
  // kSourceChanged for another content than the base and than what the draft has left, kSourceMissing, kPathRefused;
  // kCallFailed with the errno: EBUSY while another draft writes it, or another program has locked it. `locks`: those
  // of who writes, which are no hindrance; may be null.
  core::Status Open(const ServedFolder& folder, std::string_view path, const PutBase& base,
                    std::shared_ptr<WrittenFile>* file, const std::shared_ptr<LockTable>& locks = nullptr);
  // As WrittenFile::Commit, with the same check as Open.
  core::Status Commit(const std::shared_ptr<WrittenFile>& file, const Finish& finish, std::vector<uint8_t>* entry);
  void Close(const std::shared_ptr<WrittenFile>& file);  // idempotent

  // Of the same folder: what all guests lock together.
  const std::shared_ptr<LockRoom>& lock_room() const { return lock_room_; }

 private:
  // Of the drafts that have written last.
  static constexpr size_t kMostDrafts = 16384;
  struct Draft {
    FileState left;
    std::list<DraftToken>::iterator used;
  };

  struct Opened {
    std::shared_ptr<WrittenFile> file;
    PutBase base;
  };

  bool MayChangeLocked(const PutBase& base, const WrittenFile::Inode& inode, const FileState& state) const;
  std::shared_ptr<WrittenFile> OpenOf(const DraftToken& token);
  void Leave(const std::shared_ptr<WrittenFile>& file, const std::optional<FileState>& left);

  const std::shared_ptr<PutJournal> journal_;
  const std::shared_ptr<LockRoom> lock_room_ = std::make_shared<LockRoom>();
  std::mutex mutex_;
  std::map<DraftToken, Opened> open_;
  std::map<WrittenFile::Inode, DraftToken> writers_;
  std::map<DraftToken, Draft> drafts_;
  std::list<DraftToken> used_;  // used last comes first
};

}  // namespace keibi::stream
