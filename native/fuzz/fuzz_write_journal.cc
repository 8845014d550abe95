// SPDX-License-Identifier: MPL-2.0
#include <algorithm>
#include <cstdint>

#include "share/write_journal.h"
#include "temporary_folder.h"

// A damaged or foreign journal of puts: it opens, answers, takes records, and opens again.
using keibi::disk::FileVersion;
using keibi::share::OverlayToken;
using keibi::share::WriteJournal;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const keibi::fuzz::TemporaryFolder folder;
  const std::string path = (folder.path() / "journal").string();
  keibi::fuzz::Fill(path, data, size);
  OverlayToken token{};
  if (size >= 8 + token.size()) std::copy_n(data + 8, token.size(), token.begin());
  const FileVersion version{size, 1};
  {
    const auto journal = WriteJournal::Open(path);
    keibi::fuzz::Check(journal != nullptr);
    (void)journal->Knows(token, {1, 2}, version);
    journal->Begins(token, {1, 2});
    journal->Ends(token, version);
  }
  const auto journal = WriteJournal::Open(path);
  keibi::fuzz::Check(journal != nullptr && journal->Knows(token, {1, 2}, version));
  return 0;
}
