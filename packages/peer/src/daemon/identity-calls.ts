// SPDX-License-Identifier: MPL-2.0
import { fingerprintLink, fingerprintPhrase, formatFingerprint } from '@keibidrop/protocol';
import type { Identity } from '../identity/identity-store.ts';
import type { DaemonParts } from './daemon.ts';
import type { LocalGroup } from './local-calls.ts';

/** Who this peer is. */
export function identityCalls({ identity }: DaemonParts): LocalGroup<'identity' | 'unlock'> {
  return {
    identity: async () => replyOf(await identity.open()),
    unlock: async ({ passphrase }) => replyOf(await identity.unlock(passphrase)),
  };
}

function replyOf({ keys, created, lock }: Identity) {
  const { fingerprint } = keys;
  return {
    fingerprint: formatFingerprint(fingerprint),
    words: fingerprintPhrase(fingerprint),
    link: fingerprintLink(fingerprint),
    created: created.getTime(),
    lock,
  };
}
