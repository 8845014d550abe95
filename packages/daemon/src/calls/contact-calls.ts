// SPDX-License-Identifier: MPL-2.0
import { assertOthers, assertUsableFolder, type ContactRule } from '@keibidrop/contacts';
import { waitingSenders } from '@keibidrop/peer';
import type { local } from '@keibidrop/proto';
import { KeibiError, parseFingerprint } from '@keibidrop/protocol';

import type { DaemonParts } from '../daemon-parts.ts';
import { folderPath } from '../folder-path.ts';
import type { LocalGroup } from '../local/local-calls.ts';

/** The calls about contacts and nearby peers. */
export function contactCalls({
  contacts,
  identity,
  read,
}: DaemonParts): LocalGroup<'nearby' | 'contacts' | 'addContact' | 'changeContact' | 'removeContact'> {
  const { store } = contacts;
  return {
    async *nearby(_request, { signal }) {
      const { discovery } = await read({});
      for await (const { path, name, address } of waitingSenders({ discovery, signal })) yield { path, name, address };
    },

    contacts: async () => ({ contacts: (await store.list()).map((contact) => contacts.view(contact)) }),

    async addContact({ name, fingerprint }) {
      const parsed = parseFingerprint(fingerprint);
      // An identity that is locked or does not exist yet is not opened just for this check.
      const { state } = await identity.state();
      if (state === 'open' || state === 'closed') assertOthers(parsed, (await identity.open()).keys.fingerprint);
      return { contact: contacts.view(await store.add({ name, fingerprint: parsed })) };
    },

    async changeContact(request) {
      const { name, newName, verified, blocked } = request;
      const rule = ruleOf(request);
      if (rule?.kind === 'accept') await assertUsableFolder(rule.folder);
      const changed = await store.change(name, {
        ...(verified !== undefined && { verified }),
        ...(blocked !== undefined && { blocked }),
        ...(rule && { rule }),
      });
      return { contact: contacts.view(newName === undefined ? changed : await store.rename(name, newName)) };
    },

    removeContact: async ({ name }) => ({ contact: contacts.view(await store.remove(name)) }),
  };
}

/** @throws USAGE */
function ruleOf({ rule, folder }: local.ChangeContactRequest): ContactRule | undefined {
  if (rule === 'accept' && folder !== undefined) return { kind: 'accept', folder: folderPath(folder) };
  if (rule === 'accept') throw new KeibiError('USAGE', 'The rule accept needs a folder.');
  if (rule === 'ask' || rule === 'never') return { kind: rule };
  if (rule !== undefined || folder !== undefined) throw new KeibiError('USAGE', 'A rule is ask, accept or never.');
  return undefined;
}
