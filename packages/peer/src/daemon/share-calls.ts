// SPDX-License-Identifier: MPL-2.0
import type { local } from '@keibidrop/proto';
import { KeibiError } from '@keibidrop/protocol';
import type { ShareEntry } from '../share/share-entries.ts';
import type { DaemonParts } from './daemon.ts';
import { type LocalGroup, requestOf } from './local-calls.ts';
import { placeOf } from './shares.ts';

type Names = 'addShare' | 'connect' | 'shares' | 'endShare' | 'listShare' | 'watchShare' | 'pull';

const NS_PER_MS = 1_000_000n;

/** Folders that are shared, by this daemon and with it. */
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

    async pull({ paths, out, collisions, verify, durable, incognito }, { signal }) {
      const found = paths.map((path) => shares.find(path));
      const [first] = found;
      if (first === undefined) throw new KeibiError('USAGE', 'Say what to pull.');
      const { guest } = first;
      if (found.some((other) => other.guest !== guest)) throw new KeibiError('USAGE', 'One pull takes from one share.');
      const code = await guest.invitation(
        found.map(({ path }) => path),
        { signal },
      );
      const { connect, reach } = shares.requestOf(first.view.id);
      const request = { code: code.text, near: placeOf(guest), yes: true, out, collisions, verify, durable, incognito };
      const order = requestOf('receive', { ...request, connect, reach });
      return { transfer: (await transfers.add({ kind: 'receive', request: order })).view() };
    },
  };
}

function viewOf({ mtimeNs, ...entry }: ShareEntry): local.ShareEntry {
  return { ...entry, modified: Number(mtimeNs / NS_PER_MS), target: entry.target };
}

/** Whether a change at `path` is of interest to who looks at `place`: below it, or above it. */
function isAt(path: string, place: string): boolean {
  return place === '' || path === place || path.startsWith(`${place}/`) || place.startsWith(`${path}/`);
}
