// SPDX-License-Identifier: MPL-2.0
import type { Identity } from '@keibidrop/contacts';
import { fingerprintLink, fingerprintPhrase, formatFingerprint } from '@keibidrop/protocol';
import type { DaemonParts } from '../daemon-parts.ts';
import type { LocalGroup } from '../local/local-calls.ts';

/** The calls about this peer's identity. */
export function identityCalls({
  identity,
  contacts,
  events,
}: DaemonParts): LocalGroup<'identity' | 'unlock' | 'reloadIdentity'> {
  return {
    identity: async () => replyOf(await identity.open()),
    async unlock({ passphrase }) {
      const unlocked = await identity.unlock(passphrase);
      contacts.retry();
      return replyOf(unlocked);
    },
    async reloadIdentity({ passphrase }) {
      const reloaded = await identity.reload(passphrase);
      await contacts.become(reloaded);
      const reply = replyOf(reloaded);
      events.emit(0, { happened: { $case: 'identity', value: { fingerprint: reply.fingerprint } } });
      return reply;
    },
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
