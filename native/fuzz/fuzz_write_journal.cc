// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "share/write_journal.h"
#include "temporary_folder.h"

// A damaged or foreign journal of puts: it opens, answers, takes records, and opens again. That of a later version
// stays as it is.
using keibi::disk::FileVersion;
using keibi::share::OverlayToken;
using keibi::share::WriteJournal;

// A record of 56 bytes begins with its kind; 5 to 255 are kinds of later versions.
static bool HasLaterKind(const uint8_t* data, size_t size) {
  for (; size >= 56; data += 56, size -= 56) {
    uint64_t kind;
    memcpy(&kind, data, sizeof kind);
    if (kind > 4 && kind < 256) return true;
  }
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const keibi::fuzz::TemporaryFolder folder;
  const std::string path = (folder.path() / "journal").string();
  keibi::fuzz::Fill(path, data, size);
  OverlayToken token{};
  if (size >= 8 + token.size()) std::copy_n(data + 8, token.size(), token.begin());
  const FileVersion version{size, 1};
  {
    const auto journal = WriteJournal::Open(path);
    if (journal == nullptr) {
      keibi::fuzz::Check(HasLaterKind(data, size) && keibi::fuzz::Holds(path, data, size));
      return 0;
    }
    (void)journal->Knows(token, {1, 2}, version);
    journal->Begins(token, {1, 2});
    journal->Ends(token, version);
  }
  const auto journal = WriteJournal::Open(path);
  keibi::fuzz::Check(journal != nullptr && journal->Knows(token, {1, 2}, version));
  return 0;
}
