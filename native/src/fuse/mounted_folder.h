// SPDX-License-Identifier: MPL-2.0
#pragma once

#include <string>

namespace keibi::fuse {

// Takes what is mounted on `folder` away: as root by umount2(2), else by fusermount3. With `forced` also from under
// those who use it, for whom it ends then. An errno, EBUSY if somebody uses it; 0 if it has gone.
int Unmount(const std::string& folder, bool forced);

// Lets the kernel read ahead in steps as long as a request may be; where it does not let us, in those that it likes.
// Of use from the first request on, since the answer to INIT lowers it.
void RaiseReadAhead(const std::string& folder);

}  // namespace keibi::fuse
