// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mount/daemon_link.h"
#include "mount/inode_table.h"
#include "mount/overlay_file.h"

namespace keibi::mount {

// One put of an overlay that has begun.
struct Upload {
  uint64_t ino;
  std::shared_ptr<OverlayFile> overlay;
  std::string path;
  Put put;
};

// How overlays reach the other peer. A put whose file has changed or is absent there moves its overlay to another
// file: call KeepBoth or MakeAgain then. Any thread; has no lock. Callbacks come from the link's thread, or from the
// one that `run` uses.
class Uploader {
 public:
  struct Options {
    std::string label;            // of this side, in the names of conflict copies
    uint64_t most_overlay_bytes;  // on disk, of one file; put bytes above that are dropped
  };
  struct Outside {
    std::function<void(const Upload&, int error)> ended;  // the put; the overlay knows already
    std::function<void(const Upload&, int error)> moved;
    std::function<void(InodeTable::Invalidations)> invalidate;
    std::function<void(std::function<void()>)> run;  // a job that may take long, on another thread
  };

  Uploader(Options options, InodeTable* inodes, DaemonLink* link, Outside outside)
      : options_(std::move(options)), inodes_(inodes), link_(link), outside_(std::move(outside)) {}

  // Returns the number of the request. `ended` may be called before this returns.
  uint32_t Send(const Upload& upload);
  void Stop(uint32_t request);  // soon; `ended` follows

  // Keeps the other's version in place and puts ours beside it.
  void KeepBoth(Upload upload) { CopyAside(std::move(upload), 1); }
  // The file was removed there: creates it again if we have unsent bytes.
  void MakeAgain(Upload upload) { MakeFrom(std::move(upload), 0); }

  // Leaves an overlay that was not sent in the cache, and reports it to the daemon.
  void Leave(const Upload& upload);

 private:
  void Ended(const Upload& upload, int error, const std::vector<uint8_t>& page);
  void CopyAside(Upload upload, int number);
  void MakeFrom(Upload upload, size_t made_until);
  void MoveTo(const Upload& upload, const std::vector<uint8_t>& page, const std::string& name);

  const Options options_;
  InodeTable* const inodes_;
  DaemonLink* const link_;
  const Outside outside_;
};

}  // namespace keibi::mount
