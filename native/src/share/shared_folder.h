// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "platform/owned_dir.h"

namespace keibi::share {

// A part of a directory listing: entries as in a manifest (PROTOCOL 6), none with a parent.
struct ListingPage {
  std::vector<uint8_t> entries;
  uint32_t count = 0;
  uint32_t left_out = 0;  // neither file, directory nor symlink, or with a name that every peer would refuse
  bool last = false;
};

// One pass over a directory, in the disk's order. Any thread; serves one call at a time.
class Listing {
 public:
  explicit Listing(platform::OwnedDir directory) : directory_(std::move(directory)) {}

  core::Status Next(ListingPage* page);  // about EntryTable::kPageTargetBytes of entries
  void Close();                          // closes it now; a later Next finds the end

 private:
  std::mutex mutex_;
  platform::OwnedDir directory_;
};

// The readable view of a live shared folder. Another peer chooses the paths (beneath.h). Each call reopens the folder,
// so that it may disappear and come back. Any thread; may block.
class SharedFolder {
 public:
  // `name`: the folder's displayed name, an acceptable name.
  SharedFolder(std::string folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}

  // One entry; the folder's own entry if the path is empty.
  core::Status Look(std::string_view path, std::vector<uint8_t>* entry) const;
  core::Status Open(std::string_view path, std::shared_ptr<Listing>* listing) const;

 private:
  const std::string folder_, name_;
};

}  // namespace keibi::share
