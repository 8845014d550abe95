// SPDX-License-Identifier: MPL-2.0
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Invitation, KeibiError, type RotationMessage } from '@keibidrop/protocol';
import { openRelayServer } from '@keibidrop/server';
import { drawIdentitySeed, type IdentityKeys, identityFromSeed, type PublicKeys } from '@keibidrop/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RENEWALS_A_DAY } from '../src/contact.ts';
import { ContactLinks } from '../src/contact-links.ts';
import type { ContactLinksOptions } from '../src/contact-links-options.ts';
import { ContactStore } from '../src/contact-store.ts';
import { IdentityChange } from '../src/identity-change.ts';
import type { ReceivedInvitation } from '../src/received-invitations.ts';

// Anna has a new identity. Two peers in this process, as in contact-links.test.ts; the conversations and the ports are real.

const LISTEN = { host: '127.0.0.1', port: 0, orAnyPort: true };
const INVITATION: Invitation = { id: randomBytes(16), code: '7-guitar-pencil', to: 'files', label: 'photos' };
const { signal } = new AbortController();

interface Person {
  readonly before: IdentityKeys;
  readonly after: IdentityKeys;
  readonly store: ContactStore;
}

let directory: string;
let runtime: string | undefined;
let open: { close(): Promise<void> }[];
let anna: Person;
let ben: Person;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keibidrop-rotation-'));
  runtime = process.env.XDG_RUNTIME_DIR;
  process.env.XDG_RUNTIME_DIR = directory;
  open = [];
  [anna, ben] = await Promise.all([person('anna'), person('ben')]);
  await anna.store.add({ name: 'Ben', ...publicOf(ben.before) });
  await ben.store.add({ name: 'Anna', ...publicOf(anna.before) });
  await ben.store.change('Anna', { verified: true });
});
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
  if (runtime === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = runtime;
  await rm(directory, { recursive: true });
});

async function person(name: string): Promise<Person> {
  const [before, after] = await Promise.all([identity(), identity()]);
  return { before, after, store: new ContactStore({ directory: join(directory, name) }) };
}

async function identity(): Promise<IdentityKeys> {
  return identityFromSeed(await drawIdentitySeed());
}

function publicOf({ fingerprint, x25519, kem }: IdentityKeys) {
  return { fingerprint, keys: { x25519: x25519.public, kem: kem.publicKey } };
}

function former(keys: IdentityKeys) {
  return { keys, until: new Date(Date.now() + 1e9), file: 'nowhere' };
}

async function linked(store: ContactStore, self: IdentityKeys, options: Partial<ContactLinksOptions> = {}) {
  const links = await ContactLinks.open({
    self,
    contacts: store,
    listen: LISTEN,
    reach: { rendezvous: undefined, discovery: 'off', directOnly: false, relayOnly: false },
    onTrouble: (error) => {
      throw error;
    },
    signal,
    ...options,
  });
  open.push(links);
  return links;
}

/** Anna after the change, like her daemon. */
async function rotated(options: Partial<ContactLinksOptions> = {}): Promise<ContactLinks> {
  await anna.store.noteRotation(anna.before.fingerprint);
  return linked(anna.store, anna.after, { former: [former(anna.before)], ...options });
}

/** Resolves when the contact has that fingerprint. */
async function known(store: ContactStore, name: string, { fingerprint }: IdentityKeys): Promise<void> {
  const over = new AbortController();
  for await (const contacts of store.watch({ signal: over.signal })) {
    if (contacts.some((one) => one.name === name && Buffer.compare(one.fingerprint, fingerprint) === 0)) return;
  }
}

/** Resolves when the contact knows more than a former identity of ours. */
async function heard(store: ContactStore): Promise<void> {
  for await (const contacts of store.watch({ signal })) {
    if (contacts.every(({ knowsFormer }) => knowsFormer === undefined)) return;
  }
}

describe('a new identity', () => {
  it('reaches an online contact, which is notified and compares again', async () => {
    const renewed: string[] = [];
    const bens = await linked(ben.store, ben.before, { onRenewed: ({ name }) => renewed.push(name) });
    const annas = await rotated();
    await known(ben.store, 'Anna', anna.after);
    await Promise.all([annas.untilOnline(ben.before, { signal }), bens.untilOnline(anna.after, { signal })]);
    await heard(anna.store);
    const contact = await ben.store.get('Anna');
    expect(contact).toMatchObject({ verified: false, ...publicOf(anna.after) });
    expect(contact.renewals).toMatchObject([{ from: anna.before.fingerprint }]);
    expect(renewed).toEqual(['Anna']);
  });

  it('reaches a contact by a rendezvous alone', async () => {
    const log = { level: 'silent', write: () => {} } as const;
    const server = await openRelayServer({ listen: { host: '127.0.0.1', port: 0 }, log, signal });
    open.push(server);
    const rendezvous = `127.0.0.1:${server.port}`;
    const reach = { rendezvous, discovery: 'off', directOnly: false, relayOnly: true } as const;
    const bens = await linked(ben.store, ben.before, { reach });
    const annas = await linked(anna.store, anna.before, { reach });
    await Promise.all([annas.untilOnline(ben.before, { signal }), bens.untilOnline(anna.before, { signal })]);
    await anna.store.noteRotation(anna.before.fingerprint);
    await annas.become(anna.after, [former(anna.before)]);
    await known(ben.store, 'Anna', anna.after);
    await Promise.all([annas.untilOnline(ben.before, { signal }), bens.untilOnline(anna.after, { signal })]);
    await heard(anna.store);
  });

  it('takes pending invitations of both sides along', async () => {
    const came: ReceivedInvitation[] = [];
    const take = (invitation: ReceivedInvitation) => {
      came.push(invitation);
      invitation.answer('taken');
    };
    const annas = await linked(anna.store, anna.before, { onInvitation: take });
    const toBen = annas.deliver(ben.before, INVITATION, { signal });
    await anna.store.noteRotation(anna.before.fingerprint);
    await annas.become(anna.after, [former(anna.before)]);
    const bens = await linked(ben.store, ben.before, { onInvitation: take });
    const toAnna = bens.deliver(anna.before, { ...INVITATION, id: randomBytes(16) }, { signal });
    expect(await Promise.all([toBen, toAnna])).toEqual(['taken', 'taken']);
    expect(came.map(({ contact }) => contact.name).sort()).toEqual(['Anna', 'Ben']);
  });

  it.each(['the announcer', 'the contact'])('reaches a contact if %s only visits', async (visitor) => {
    const onInvitation = (invitation: ReceivedInvitation) => invitation.answer('taken');
    if (visitor === 'the announcer') {
      await linked(ben.store, ben.before, { onInvitation });
      const annas = await rotated({ listen: undefined });
      expect(await annas.deliver(ben.before, INVITATION, { signal })).toBe('taken');
    } else {
      await rotated({ onInvitation });
      const bens = await linked(ben.store, ben.before, { listen: undefined });
      await bens.untilOnline(anna.before, { signal });
      expect(await bens.deliver(anna.before, INVITATION, { signal })).toBe('taken');
    }
    await known(ben.store, 'Anna', anna.after);
  });

  it('of both sides at once reaches both', async () => {
    await ben.store.noteRotation(ben.before.fingerprint);
    await Promise.all([rotated(), linked(ben.store, ben.after, { former: [former(ben.before)] })]);
    await Promise.all([known(ben.store, 'Anna', anna.after), known(anna.store, 'Ben', ben.after)]);
    await Promise.all([heard(anna.store), heard(ben.store)]);
  });

  it('is announced as the latest, even to a contact that missed one', async () => {
    const annas = await rotated();
    const latest = await identity();
    await anna.store.noteRotation(anna.after.fingerprint);
    await annas.become(latest, [former(anna.before), former(anna.after)]);
    await linked(ben.store, ben.before);
    await known(ben.store, 'Anna', latest);
    await heard(anna.store);
  });
});

/** Ben's store, with one decision replaced. */
function bensContacts(mayRenew: ContactLinksOptions['contacts']['mayRenew']): ContactLinksOptions['contacts'] {
  const { store } = ben;
  return {
    watch: (options) => store.watch(options),
    list: () => store.list(),
    noteMet: (...met) => store.noteMet(...met),
    noteHeard: (...heard) => store.noteHeard(...heard),
    renew: (renewed) => store.renew(renewed),
    mayRenew,
  };
}

describe('an announcement changes nothing', () => {
  /** Resolves when Ben has refused that identity as Anna's. */
  async function refused(announced: IdentityKeys): Promise<void> {
    let decided = () => {};
    const asked = new Promise<void>((resolve) => {
      decided = resolve;
    });
    const contacts = bensContacts(async (renewed) => {
      const refusal = await ben.store.mayRenew(renewed);
      if (refusal !== undefined) decided();
      return refusal;
    });
    await linked(ben.store, ben.before, { contacts });
    await anna.store.noteRotation(anna.before.fingerprint);
    await linked(anna.store, announced, { former: [former(anna.before)] });
    await asked;
  }

  const carl = async () => {
    const keys = await identity();
    await ben.store.add({ name: 'Carl', ...publicOf(keys) });
    return keys;
  };

  it.each([
    ['the contact’s own', async () => ben.before],
    ['another contact’s', carl],
  ])('if its fingerprint is %s', async (_, announced) => {
    await refused(await announced());
    expect(await ben.store.get('Anna')).toMatchObject({ verified: true, ...publicOf(anna.before) });
    await heard(anna.store);
  });

  it('if there were too many within a day', async () => {
    let from = anna.before;
    for (let i = 0; i < MAX_RENEWALS_A_DAY; i++) {
      const next = await identity();
      const { keys } = publicOf(next);
      expect(await ben.store.renew({ from: from.fingerprint, keys, own: [], at: new Date() })).toBeUndefined();
      from = next;
    }
    anna = { ...anna, before: from };
    await refused(anna.after);
    expect(await ben.store.get('Anna')).toMatchObject(publicOf(from));
    expect(await anna.store.get('Ben')).toMatchObject({ knowsFormer: from.fingerprint });
  });

  it('if the contact has blocked the announcer, or removed it', async () => {
    const renewed = { from: anna.before.fingerprint, keys: publicOf(anna.after).keys, own: [], at: new Date() };
    await ben.store.change('Anna', { blocked: true });
    expect(await ben.store.renew(renewed)).toBe('final');
    await ben.store.remove('Anna');
    expect(await ben.store.renew(renewed)).toBe('final');
    expect(await ben.store.list()).toEqual([]);
  });

  it('if the program ends the conversation, as an older one does, and is not repeated at once', async () => {
    let announced = 0;
    const contacts = bensContacts(() => {
      announced++;
      throw new KeibiError('HANDSHAKE_MALFORMED');
    });
    const keys = await carl();
    await linked(ben.store, ben.before, { contacts, onInvitation: (invitation) => invitation.answer('taken') });
    await rotated();
    await expect.poll(() => announced, { timeout: 60_000 }).toBe(1);
    const carls = new ContactStore({ directory: join(directory, 'carl') });
    await carls.add({ name: 'Ben', ...publicOf(ben.before) });
    expect(await (await linked(carls, keys)).deliver(ben.before, INVITATION, { signal })).toBe('taken');
    expect(announced).toBe(1);
  });
});

describe('in one conversation', () => {
  /** Both sides; each receives the messages of the other. */
  function conversation(announced: IdentityKeys) {
    const stored: PublicKeys[] = [];
    const answers: string[] = [];
    const refusals: unknown[] = [];
    const said: RotationMessage[] = [];
    const sides: IdentityChange[] = [];
    const side = (self: IdentityKeys, peer: IdentityKeys, other: number, next?: IdentityKeys) =>
      new IdentityChange({
        self,
        peer: publicOf(peer).keys,
        announced: next,
        mayRenew: async () => undefined,
        renew: async (keys) => void stored.push(keys),
        send: (message) => {
          said.push(message);
          const taken = sides[other]?.take(message).catch((reason) => refusals.push(reason));
          pending.push(taken);
        },
        onAnswer: (answer) => answers.push(answer),
      });
    const pending: unknown[] = [];
    sides.push(side(anna.before, ben.before, 1, announced), side(ben.before, anna.before, 0));
    const [annas, bens] = sides as [IdentityChange, IdentityChange];
    const settled = async () => {
      for (let i = 0; i < pending.length; i++) await pending[i];
    };
    return { annas, bens, stored, answers, refusals, said, settled };
  }

  it('a new identity is proved, stored and confirmed', async () => {
    const { annas, stored, answers, said, settled, refusals } = conversation(anna.after);
    annas.announce();
    await settled();
    expect(said.map(({ kind }) => kind)).toEqual(['rotate', 'rotate-test', 'rotate-proof', 'rotated']);
    expect({ stored, answers, refusals }).toEqual({
      stored: [publicOf(anna.after).keys],
      answers: ['taken'],
      refusals: [],
    });
  });

  it.each(['x25519', 'kem'] as const)(
    'a forged announcement, without the new %s secret, stores nothing',
    async (key) => {
      const { x25519, kem } = anna.after;
      const eve = await identity();
      const forged = {
        ...anna.after,
        ...(key === 'x25519'
          ? { x25519: { secret: eve.x25519.secret, public: x25519.public } }
          : { kem: { secretKey: eve.kem.secretKey, publicKey: kem.publicKey } }),
      };
      const { annas, stored, answers, settled, refusals } = conversation(forged);
      annas.announce();
      await settled();
      expect({ stored, answers }).toEqual({ stored: [], answers: [] });
      expect(refusals).toMatchObject([{ code: 'HANDSHAKE_TAMPERED' }]);
    },
  );

  it('nothing is accepted twice, or out of order', async () => {
    const { annas, bens, stored, settled } = conversation(anna.after);
    const malformed = { code: 'HANDSHAKE_MALFORMED' };
    const [proof, ciphertext] = [new Uint8Array(32), new Uint8Array(1568)];
    annas.announce();
    await settled();
    const { x25519, kem } = publicOf(anna.after).keys;
    await expect(bens.take({ kind: 'rotate', x25519, kem })).rejects.toMatchObject(malformed);
    await expect(annas.take({ kind: 'rotate-test', ciphertext })).rejects.toMatchObject(malformed);
    for (const message of [
      { kind: 'rotate-proof', proof },
      { kind: 'rotated', proof },
      { kind: 'rotate-test', ciphertext },
      { kind: 'rotate-refused', reason: 'final' },
    ] as const) {
      await expect(conversation(anna.after).bens.take(message)).rejects.toMatchObject(malformed);
    }
    expect(stored).toHaveLength(1);
  });
});
