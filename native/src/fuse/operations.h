// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "fuse/lowlevel.h"

namespace keibi::fuse {

// What libfuse calls, with a Host as its userdata. Whatever is not in it the kernel is told that we cannot do.
const fuse_lowlevel_ops& Operations();

}  // namespace keibi::fuse
