// SPDX-License-Identifier: MPL-2.0
import type { DaemonParts } from '../daemon-parts.ts';
import type { LocalGroup } from '../local/local-calls.ts';

/** The call that opens the page in a browser. */
export function pageCalls({ page }: DaemonParts): LocalGroup<'openPage'> {
  return { openPage: () => page.open() };
}
