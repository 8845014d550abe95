// SPDX-License-Identifier: MPL-2.0
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>
