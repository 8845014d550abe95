// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReachOptions } from '@keibidrop/peer';
import type { Invitation } from '@keibidrop/protocol';
import { openRelayServer, type RelayServer } from '@keibidrop/server';
import { drawIdentitySeed, type IdentityKeys, identityFromSeed } from '@keibidrop/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContactLinks } from '../src/contact-links.ts';
import { ContactStore } from '../src/contact-store.ts';
import { MAX_WAITING } from '../src/invitation-rule.ts';
import type { ReceivedInvitation } from '../src/received-invitations.ts';

// Two peers in this process, each with its own configuration directory. The mailboxes, the sealed conversations and the port
// are real.

const LISTEN = { host: '127.0.0.1', port: 0, orAnyPort: true };
const INVITATION: Invitation = {
  id: randomBytes(16),
  code: '7-guitar-pencil',
  to: 'files',
  label: 'photos',
};

let directory: string;
let runtime: string | undefined;
let open: { close(): Promise<void> }[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-links-'));
  runtime = process.env.XDG_RUNTIME_DIR;
  process.env.XDG_RUNTIME_DIR = directory;
  open = [];
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
  if (runtime === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = runtime;
  await rm(directory, { recursive: true });
});

interface Person {
  readonly self: IdentityKeys;
  readonly store: ContactStore;
}

/** Two contacts that know each other's fingerprints, and with `keys` each other's keys. */
async function acquainted({ keys = true } = {}): Promise<{ anna: Person; ben: Person }> {
  const person = async (name: string) => {
    const self = await identityFromSeed(await drawIdentitySeed());
    return { self, store: new ContactStore({ directory: join(directory, name) }) };
  };
  const [anna, ben] = await Promise.all([person('anna'), person('ben')]);
  const save = (of: Person, name: string, { self }: Person) => {
    const known = keys && { keys: { x25519: self.x25519.public, kem: self.kem.publicKey } };
    return of.store.add({ name, fingerprint: self.fingerprint, ...known });
  };
  await save(anna, 'Ben', ben);
  await save(ben, 'Anna', anna);
  return { anna, ben };
}

/** An online peer; `until` waits for the presence of its one contact. */
async function linked(
  { self, store }: Person,
  { visits = false, reach = {} as Partial<ReachOptions>, troubled = false } = {},
) {
  const states: boolean[] = [];
  const troubles: string[] = [];
  const invitations: ReceivedInvitation[] = [];
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of waiting) look();
  };
  const links = await ContactLinks.open({
    self,
    contacts: store,
    listen: visits ? undefined : LISTEN,
    reach: { rendezvous: undefined, discovery: 'off', directOnly: false, relayOnly: false, ...reach },
    onPresence: (_contact, online) => {
      states.push(online);
      changed();
    },
    onInvitation: (invitation) => {
      invitations.push(invitation);
      changed();
    },
    onTrouble: (error) => {
      if (!troubled) throw error;
      troubles.push(error.code);
      changed();
    },
    signal: new AbortController().signal,
  });
  open.push(links);
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!holds()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const invitation = async (at = 0) => {
    await until(() => invitations.length > at);
    return invitations[at] as ReceivedInvitation;
  };
  return { links, states, troubles, invitations, until, invitation, online: () => until(() => states.at(-1) === true) };
}

async function serve(): Promise<{ rendezvous: string; server: RelayServer }> {
  const log = { level: 'silent', write: () => {} } as const;
  const { signal } = new AbortController();
  const server = await openRelayServer({ listen: { host: '127.0.0.1', port: 0 }, log, signal });
  open.push(server);
  return { rendezvous: `127.0.0.1:${server.port}`, server };
}

const { signal } = new AbortController();

describe('two contacts', () => {
  it.each([
    ['who know each other by keys, on this machine', { keys: true, server: false }],
    ['who have only compared fingerprints', { keys: false, server: false }],
    ['at a rendezvous alone', { keys: true, server: true }],
    ['at a rendezvous alone, by fingerprints', { keys: false, server: true }],
  ])('%s are online for each other, and offline when one leaves', async (_what, { keys, server }) => {
    const { anna, ben } = await acquainted({ keys });
    const reach = server ? { rendezvous: (await serve()).rendezvous, relayOnly: true } : {};
    const [one, other] = await Promise.all([linked(anna, { reach }), linked(ben, { reach })]);
    await Promise.all([one.online(), other.online()]);
    await other.links.close();
    await one.until(() => one.states.length === 2);
    expect(one.states).toEqual([true, false]);
    const again = await linked(ben, { reach });
    await Promise.all([one.until(() => one.states.length === 3), again.online()]);
    expect(one.links.contacts()).toMatchObject([{ contact: { name: 'Ben' }, online: true }]);
    const [known] = await anna.store.list();
    expect(known?.keys?.kem).toEqual(ben.self.kem.publicKey);
    expect(known?.lastSeen).toBeInstanceOf(Date);
  });

  it('are online again after their file could not be read for a moment', async () => {
    const { anna, ben } = await acquainted();
    const one = await linked(anna, { troubled: true });
    const file = join(directory, 'anna', 'contacts.json');
    const kept = await readFile(file);
    await writeFile(file, 'no contacts at all');
    await one.until(() => one.troubles.length === 1);
    expect(one.troubles).toEqual(['CONTACTS_CORRUPT']);
    await writeFile(file, kept);
    await anna.store.change('Ben', { blocked: true });
    await expect.poll(() => one.links.contacts()[0]?.contact.blocked).toBe(true);
    const other = await linked(ben);
    await anna.store.change('Ben', { blocked: false });
    await Promise.all([one.online(), other.online()]);
  });

  it('are strangers if one has not saved the other', async () => {
    const { anna, ben } = await acquainted();
    await ben.store.remove('Anna');
    const [one, other] = [await linked(anna), await linked(ben)];
    await ben.store.add({ name: 'Anna', fingerprint: anna.self.fingerprint });
    await Promise.all([one.online(), other.online()]);
    await ben.store.remove('Anna');
    await one.until(() => one.states.at(-1) === false);
    expect(other.links.contacts()).toEqual([]);
  });
});

describe('an invitation', () => {
  it('is asked about and answered, in both directions', async () => {
    const { anna, ben } = await acquainted();
    const [one, other] = [await linked(anna), await linked(ben)];
    const states: string[] = [];
    const delivering = one.links.deliver(ben.self, INVITATION, { signal, onState: (state) => states.push(state) });
    const came = await other.invitation();
    expect(came).toMatchObject({ contact: { name: 'Anna' }, to: 'files', label: 'photos', code: INVITATION.code });
    expect(came.folder).toBeUndefined();
    came.answer('declined');
    came.answer('taken');
    expect(await delivering).toBe('declined');
    // Each state may repeat when one conversation follows another.
    expect([...new Set(states)]).toEqual(['invited', 'asked']);
    const back = other.links.deliver(anna.self, { ...INVITATION, id: randomBytes(16) }, { signal });
    (await one.invitation()).answer('taken');
    expect(await back).toBe('taken');
  });

  it('waits for a contact that is away, and for one that leaves and returns before it has answered', async () => {
    const { anna, ben } = await acquainted();
    const one = await linked(anna);
    const delivering = one.links.deliver(ben.self, INVITATION, { signal });
    const first = await linked(ben);
    const before = await first.invitation();
    await first.links.close();
    expect(before.signal.aborted).toBe(true);
    const second = await linked(ben);
    (await second.invitation()).answer('taken');
    expect(await delivering).toBe('taken');
  });

  it('that the contact has no room for waits until it has answered another', async () => {
    const { anna, ben } = await acquainted();
    const [one, other] = [await linked(anna), await linked(ben)];
    const deliver = () => one.links.deliver(ben.self, { ...INVITATION, id: randomBytes(16) }, { signal });
    const delivering = Array.from({ length: MAX_WAITING + 1 }, deliver);
    await other.invitation(MAX_WAITING - 1);
    // One more round trip of the same conversation, after which the last invitation has been refused.
    const back = other.links.deliver(anna.self, INVITATION, { signal });
    (await one.invitation()).answer('taken');
    expect(await back).toBe('taken');
    expect(other.invitations).toHaveLength(MAX_WAITING);
    (await other.invitation(0)).answer('declined');
    await other.invitation(MAX_WAITING);
    for (const came of other.invitations) came.answer('taken');
    expect((await Promise.all(delivering)).sort()).toEqual(['declined', ...Array(MAX_WAITING).fill('taken')]);
  });

  it('that is withdrawn ends for the contact', async () => {
    const { anna, ben } = await acquainted();
    const [one, other] = [await linked(anna), await linked(ben)];
    const controller = new AbortController();
    const delivering = one.links.deliver(ben.self, INVITATION, { signal: controller.signal });
    const came = await other.invitation();
    const over = new Promise((resolve) => came.signal.addEventListener('abort', resolve));
    controller.abort(new Error('enough'));
    await expect(delivering).rejects.toThrow('enough');
    await over;
  });

  it.each([
    ['refused', { rule: { kind: 'never' } as const }],
    ['blocked', { blocked: true }],
  ])('is %s without a question if the contact has set that', async (verdict, change) => {
    const { anna, ben } = await acquainted();
    await ben.store.change('Anna', change);
    const [one, other] = [await linked(anna), await linked(ben)];
    expect(await one.links.deliver(ben.self, INVITATION, { signal })).toBe(verdict);
    expect(other.links.contacts()).toMatchObject([{ online: verdict === 'refused' }]);
    expect(other.invitations).toEqual([]);
  });

  it('of a contact with an accepting rule names the folder', async () => {
    const { anna, ben } = await acquainted();
    await ben.store.change('Anna', { rule: { kind: 'accept', folder: '/srv/anna' } });
    const [one, other] = [await linked(anna), await linked(ben)];
    const delivering = one.links.deliver(ben.self, INVITATION, { signal });
    const came = await other.invitation();
    expect(came.folder).toBe('/srv/anna');
    came.answer('taken');
    expect(await delivering).toBe('taken');
  });

  it('works from a visitor, who is not shown as online, beside a daemon or without one', async () => {
    const { anna, ben } = await acquainted();
    const other = await linked(ben);
    const visitor = await linked(anna, { visits: true });
    const alone = visitor.links.deliver(ben.self, INVITATION, { signal });
    (await other.invitation()).answer('taken');
    expect(await alone).toBe('taken');
    expect(other.states).toEqual([]);
    const daemon = await linked(anna);
    await Promise.all([daemon.online(), other.online()]);
    const beside = visitor.links.deliver(ben.self, { ...INVITATION, id: randomBytes(16) }, { signal });
    (await other.invitation(1)).answer('declined');
    expect(await beside).toBe('declined');
    expect(other.states).toEqual([true]);
  });
});

describe('a block', () => {
  it('ends open invitations, reaches the contact by name, and ends with it', async () => {
    const { anna, ben } = await acquainted();
    const [one, other] = [await linked(anna), await linked(ben)];
    await Promise.all([one.online(), other.online()]);
    await ben.store.change('Anna', { blocked: true });
    await Promise.all([one, other].map(({ until, states }) => until(() => states.at(-1) === false)));
    await expect(one.links.untilOnline(ben.self, { signal })).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' });
    expect(await one.links.deliver(ben.self, INVITATION, { signal })).toBe('blocked');
    await ben.store.change('Anna', { blocked: false });
    await Promise.all([one.online(), other.online()]);
  });
});
