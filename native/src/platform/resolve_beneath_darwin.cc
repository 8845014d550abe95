// SPDX-License-Identifier: MPL-2.0
#include <cerrno>

#include "platform/resolve_beneath.h"

// Never compiled (docs/PORTING.md).
namespace keibi::platform {

bool ResolveBeneath(int, const char*, int, core::Fd*) {
  errno = ENOSYS;
  return false;
}

}  // namespace keibi::platform
