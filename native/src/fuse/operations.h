// SPDX-License-Identifier: MPL-2.0
#pragma once

#include "fuse/lowlevel.h"

namespace keibi::fuse {

// The operations that libfuse calls, with a Server as its userdata. libfuse answers all others without us.
const fuse_lowlevel_ops& Operations();

}  // namespace keibi::fuse
