// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "fuse/lowlevel.h"

namespace keibi::fuse {

// The mount host is not linked with libfuse3: it loads the one of the system, so that one build runs beside libfuse 3.2
// to 3.18 and a system without libfuse3 gets a sentence instead of the linker's. library.cc defines the functions of
// <fuse3/fuse_lowlevel.h> that the host calls; each passes its arguments on.

// Loads libfuse3; nothing else here may be called before. False if the system has none that fits.
bool LoadLibrary();

// The three whose declarations differ between versions of libfuse3.
fuse_session* NewSession(fuse_args* arguments, const fuse_lowlevel_ops& operations, void* userdata);
// Serves the session on `threads` threads, each with a descriptor of its own. 0, or an error of libfuse3.
int ServeSession(fuse_session* session, unsigned threads);
// Takes reads and writes of the session over. False before libfuse 3.13, which cannot do that.
bool SetCustomIo(fuse_session* session, const fuse_custom_io& io);
// `flock_release` of a release, which libfuse 3.15 and 3.16 have one bit further than all others.
bool ReleasesFlock(const fuse_file_info& info);

}  // namespace keibi::fuse
