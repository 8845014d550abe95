// SPDX-License-Identifier: MPL-2.0
import { whyNotMountable } from '@keibidrop/mount';
import { KeibiError } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
import type { LocalGroup } from '../local/local-calls.ts';

type Names = 'mount' | 'unmount' | 'mounts';

/** The calls about mounted shares. */
export function mountCalls({ mounts }: DaemonParts): LocalGroup<Names> {
  return {
    mount: async (request, { signal }) => ({
      mount: await mounts.add(request, { signal }),
      unsent: 0,
      keptIn: undefined,
    }),
    unmount: async ({ folder, force }) => {
      const ended = await mounts.end(folder, { force });
      if (ended === undefined) throw new KeibiError('MOUNT_UNAVAILABLE', `${folder} is not mounted by this daemon.`);
      return ended;
    },
    mounts: async () => ({ mounts: mounts.list(), unavailable: await whyNotMountable() }),
  };
}
