// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "fuse/lowlevel.h"

namespace keibi::fuse {

// The mount host is not linked with libfuse3: it loads the system's library, so that one build runs with libfuse 3.2 to
// 3.18. A system without libfuse3 gets our own error message instead of the linker's. library.cc defines the functions
// of <fuse3/fuse_lowlevel.h> that the host calls; each forwards its arguments.

// Loads libfuse3; call this before anything else here. False if the system has no usable one.
bool LoadLibrary();

// The three whose declarations differ between versions of libfuse3.
fuse_session* NewSession(fuse_args* arguments, const fuse_lowlevel_ops& operations, void* userdata);
// Serves the session on `threads` threads, each with a descriptor of its own. 0, or an error of libfuse3.
int ServeSession(fuse_session* session, unsigned threads);
// Replaces the session's reads and writes. False before libfuse 3.13, which does not support that.
bool SetCustomIo(fuse_session* session, const fuse_custom_io& io);
// `flock_release` of a release: libfuse 3.15 and 3.16 have it one bit further than all others.
bool ReleasesFlock(const fuse_file_info& info);

}  // namespace keibi::fuse
