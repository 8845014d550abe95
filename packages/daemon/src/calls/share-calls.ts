// SPDX-License-Identifier: MPL-2.0

import type { local } from '@keibidrop/proto';
import type { ShareEntry } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
import { invitationTo } from '../folders/pull-invitation.ts';
import { type LocalGroup, requestOf } from '../local/local-calls.ts';

type Names = 'addShare' | 'connect' | 'shares' | 'endShare' | 'listShare' | 'watchShare' | 'pull';

const NS_PER_MS = 1_000_000n;

/** The calls about our own shares and those of others. */
export function shareCalls({ shares, transfers }: DaemonParts): LocalGroup<Names> {
  return {
    addShare: async (request) => ({ share: await shares.add(request) }),
    connect: async (request, { signal }) => {
      const { contact } = request;
      const connecting =
        contact === undefined ? shares.connect(request, { signal }) : shares.accept(contact, { signal });
      return { share: await connecting };
    },
    shares: () => ({ shares: shares.list() }),
    endShare: async ({ share }) => ({ share: await shares.end(share) }),

    async *listShare(request, { signal }) {
      const { guest, path } = shares.find(request.path);
      for await (const { entries, leftOut } of guest.list(path, { signal })) {
        yield { entries: entries.map(viewOf), leftOut };
      }
    },

    async *watchShare(request, { signal }) {
      const { guest, path } = shares.find(request.path);
      let first = true;
      for await (const { changes, lookAgain, incomplete } of guest.watch({ signal })) {
        const below = changes.filter((change) => isAt(change.path, path));
        if (first || below.length > 0 || lookAgain) yield { changes: below, lookAgain, incomplete };
        first = false;
      }
    },

    async pull({ paths, ...how }, { signal }) {
      const invitation = await invitationTo(shares, paths, { signal });
      const request = requestOf('receive', { ...how, ...invitation, yes: true });
      return { transfer: (await transfers.add({ kind: 'receive', request }, { pull: paths })).view() };
    },
  };
}

function viewOf({ mtimeNs, ...entry }: ShareEntry): local.ShareEntry {
  return { ...entry, modified: Number(mtimeNs / NS_PER_MS), target: entry.target };
}

/** Whether a change at `path` matters to a viewer of `place`: it is above or below. */
function isAt(path: string, place: string): boolean {
  return place === '' || path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`);
}
