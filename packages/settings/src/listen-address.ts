// SPDX-License-Identifier: MPL-2.0
import type { HostPort } from '@keibidrop/discovery';

/** Where a sender listens. */
export interface ListenAddress extends HostPort {
  /**
   * True: any free port will do if `port` is taken. False: the user asked for this port, so a taken one is an error
   * (CONFIG_INVALID).
   */
  orAnyPort: boolean;
}
