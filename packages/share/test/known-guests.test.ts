// SPDX-License-Identifier: MPL-2.0
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { ALL_SUITES, type Code, KeibiError, parseCode } from '@keibidrop/protocol';
import { handshakeAsInitiator, ReturnSecret } from '@keibidrop/session';
import type { SealedPlace } from '@keibidrop/settings';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConnectOptions } from '../src/guest/connect-options.ts';
import { GUEST_UNUSED_MS, KnownShares, type ShareMemory } from '../src/guest/known-shares.ts';
import { decodeKnownGuests, encodeKnownGuests, type KnownGuestRecord } from '../src/sharer/known-guest-records.ts';
import { type KnownGuest, KnownGuests, MAX_KNOWN_GUESTS } from '../src/sharer/known-guests.ts';
import type { Sharing } from '../src/sharer/share.ts';
import { MailboxTap } from './mailbox-tap.ts';
import { CODE, ShareRoom } from './share-room.ts';

const NONE = new Uint8Array();
const secretOf = (number: number) => new Uint8Array(32).fill(number);
const attemptOf = async (number: number) => (await ReturnSecret.ofGuest(secretOf(number))).attempt;

let room: ShareRoom;
let guests: SealedPlace;
let shares: SealedPlace;
beforeEach(async () => {
  room = await ShareRoom.open();
  guests = { folder: room.path('sharer', 'known-guests'), keyFile: room.path('sharer.key') };
  shares = { folder: room.path('guest', 'known-shares'), keyFile: room.path('guest.key') };
  await mkdir(room.path('folder'));
});
afterEach(() => room.close());

describe('the stored data of guests', () => {
  const record = fc.record<KnownGuestRecord>({
    used: fc.nat(Number.MAX_SAFE_INTEGER),
    secrets: fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 4 }),
  });

  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), (records) => {
        expect(decodeKnownGuests(encodeKnownGuests(records))).toEqual(records);
      }),
      { numRuns: 200 },
    );
  });

  it('is written as it was read, or refused, for any bytes', () => {
    // Few distinct byte values, so that many of them act as counts.
    const bytes = fc.array(fc.constantFrom(0, 1, 2, 4, 5, 255), { maxLength: 300 });
    fc.assert(
      fc.property(bytes, (foreign) => {
        const records = decodeKnownGuests(Uint8Array.from(foreign));
        if (records !== undefined) expect(encodeKnownGuests(records)).toEqual(Uint8Array.from(foreign));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the guests of a share', () => {
  const open = (code: Code = CODE) => KnownGuests.open({ place: guests, code });
  const knows = async (known: KnownGuests, ...numbers: number[]) => {
    const attempts = await Promise.all(numbers.map(attemptOf));
    return attempts.map((attempt) => known.secretOf(attempt) !== undefined);
  };

  it('are known by the secret that they hold and by newer ones, never by older ones', async () => {
    const known = await open();
    const guest = await known.remember(undefined, NONE, secretOf(1));
    await known.remember(guest, await attemptOf(1), secretOf(2));
    // The guest may have died before it stored the second.
    expect(await knows(known, 1, 2)).toEqual([true, true]);
    await known.remember(guest, await attemptOf(2), secretOf(3));
    expect(await knows(known, 1, 2, 3)).toEqual([false, true, true]);
    // However often the reply to it is lost.
    for (let number = 4; number < 12; number++) await known.remember(guest, await attemptOf(2), secretOf(number));
    expect(await knows(known, 2, 3, 9, 10, 11)).toEqual([true, false, true, true, true]);
    await known.close({ forget: true });
  });

  it('are known to the next run of the share under that code, from a sealed file that only this user can read', async () => {
    const known = await open();
    await known.remember(undefined, NONE, secretOf(1));
    await known.close({ forget: false });
    const [name = ''] = await readdir(guests.folder);
    const file = room.path('sharer', 'known-guests', name);
    expect([(await stat(file)).mode & 0o777, (await stat(guests.keyFile)).mode & 0o777]).toEqual([0o600, 0o600]);
    expect((await readFile(file)).includes(Buffer.from(secretOf(1)))).toBe(false);
    expect(await knows(await open(), 1)).toEqual([true]);
    expect(await knows(await open(parseCode('7-other-words')), 1)).toEqual([false]);
    await (await open()).close({ forget: true });
    expect(await readdir(guests.folder)).toEqual([]);
    expect(await knows(await open(), 1)).toEqual([false]);
  });

  it('are none after the file was damaged', async () => {
    const known = await open();
    await known.remember(undefined, NONE, secretOf(1));
    await known.close({ forget: false });
    const [name = ''] = await readdir(guests.folder);
    const file = room.path('sharer', 'known-guests', name);
    const bytes = await readFile(file);
    bytes[40] = (bytes[40] as number) ^ 1;
    await writeFile(file, bytes);
    expect(await knows(await open(), 1)).toEqual([false]);
  });

  it('are forgotten and counted beyond the limit, the longest unused first, and after a time without use', async () => {
    const known = await KnownGuests.open({ place: undefined, code: CODE });
    const here = await known.remember(undefined, NONE, secretOf(1));
    here.used = 0;
    const number = (i: number) => {
      const secret = new Uint8Array(32).fill(9);
      new DataView(secret.buffer).setUint32(0, i);
      return secret;
    };
    for (let i = 0; i < MAX_KNOWN_GUESTS; i++) {
      const guest: KnownGuest = await known.remember(undefined, NONE, number(i));
      known.leave(guest);
      guest.used = i;
    }
    expect([known.count, known.forgotten]).toEqual([MAX_KNOWN_GUESTS, 1]);
    // A connected guest counts as used.
    expect(await knows(known, 1)).toEqual([true]);
    expect(known.secretOf((await ReturnSecret.ofGuest(number(0))).attempt)).toBeUndefined();
    expect(known.secretOf((await ReturnSecret.ofGuest(number(1))).attempt)).toBeDefined();
    await known.close({ forget: true });

    const kept = await open();
    const [old, young] = [
      await kept.remember(undefined, NONE, secretOf(2)),
      await kept.remember(undefined, NONE, secretOf(3)),
    ];
    for (const one of [old, young]) kept.leave(one);
    old.used = Date.now() - GUEST_UNUSED_MS - 1;
    await kept.close({ forget: false });
    const next = await open();
    expect([await knows(next, 2, 3), next.forgotten]).toEqual([[false, true], 1]);
    await next.close({ forget: true });
  });

  it('keep the stored secrets when the disk is full', async () => {
    const known = await open();
    const guest = await known.remember(undefined, NONE, secretOf(1));
    await rm(guests.folder, { recursive: true });
    await writeFile(guests.folder, 'in the way');
    await expect(known.remember(guest, await attemptOf(1), secretOf(2))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    await expect(known.remember(undefined, NONE, secretOf(3))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect([await knows(known, 1, 2, 3), known.count]).toEqual([[true, false, false], 1]);
    await known.close({ forget: false });
  });
});

describe('a guest of a share', () => {
  let tap: MailboxTap;
  beforeEach(async () => {
    tap = await MailboxTap.open();
  });
  afterEach(() => tap.close());

  /** A sharer; `stop` ends it like a daemon that another one follows. */
  async function start(): Promise<{ sharing: Sharing; stop(): Promise<void> }> {
    const ending = new AbortController();
    const sharing = await room.share('folder', {
      guests,
      signal: AbortSignal.any([room.signal, ending.signal]),
      onEvent: (event) => {
        room.events.push(event);
        if (event.type === 'waiting') tap.port = event.port;
      },
    });
    const stop = async () => {
      ending.abort(new KeibiError('SESSION_LOST'));
      await sharing.close();
    };
    return { sharing, stop };
  }

  /** The memory of a new process, which has only the files on the disk. */
  const memory = async (): Promise<ShareMemory> => {
    const known = new KnownShares(shares);
    return known.memoryOf(await known.nameOf(CODE));
  };
  const join = async (options: Partial<ConnectOptions> = {}) =>
    room.connect({ connect: tap.place, memory: await memory(), ...options });
  /** As a daemon that has stored only the number of the code. */
  const stored = { codeGiven: false, met: true, code: { nameplate: CODE.nameplate, words: [], text: '' } };
  const met = () => [tap.count('HELLO'), tap.count('RETURN')];

  it('uses the code once, whichever side restarts', async () => {
    const { sharing, stop } = await start();
    await (await join()).close();
    await (await join()).close();
    await (await join(stored)).close();
    expect(met()).toEqual([1, 2]);
    expect(sharing.guests).toEqual({ known: 1, forgotten: 0 });
    let connected = 0;
    const onEvent: ConnectOptions['onEvent'] = ({ type }) => {
      if (type === 'connected') connected++;
    };
    const staying = await join({ onEvent, patienceMs: 600_000 });
    await stop();
    const { stop: stopAgain } = await start();
    await vi.waitUntil(() => connected === 2, { timeout: 240_000, interval: 5 });
    expect((await staying.stat('', room)).name).toBe('folder');
    await staying.close();
    await stopAgain();
    await start();
    await (await join(stored)).close();
    expect(tap.count('HELLO')).toBe(1);
  });

  it('returns after several of its processes came at once', async () => {
    await start();
    await (await join()).close();
    const both = await Promise.all([join(stored), join(stored), join(stored)]);
    await Promise.all(both.map((one) => one.close()));
    await (await join(stored)).close();
    expect(met()).toEqual([1, 4]);
  });

  it('returns while wrong codes have locked new guests out', async () => {
    const { sharing } = await start();
    await (await join()).close();
    for (let tries = 0; tries < 3; tries++) {
      const guess = room.connect({ code: parseCode('7-wrong-words') });
      await expect(guess).rejects.toMatchObject({ code: 'CODE_WRONG' });
    }
    await expect(room.connect()).rejects.toMatchObject({ code: 'PEER_BUSY' });
    const guest = await join();
    expect((await guest.stat('', room)).name).toBe('folder');
    expect(sharing.guests.known).toBe(1);
  });

  it('returns after it, or the sharer, has died between any two steps', async () => {
    const { stop } = await start();
    await (await join()).close();
    const dying = async (): Promise<ShareMemory> => ({ ...(await memory()), keep: async () => {} });
    for (let i = 0; i < 6; i++) await (await join({ ...stored, memory: await dying() })).close();
    await stop();
    await start();
    await (await join({ ...stored, memory: await dying() })).close();
    await (await join(stored)).close();
    await (await join(stored)).close();
    expect(tap.count('HELLO')).toBe(1);
  });

  it('keeps its secret when the sharer can store none', async () => {
    await start();
    await (await join()).close();
    const kept = await (await memory()).secret();
    await rm(guests.folder, { recursive: true });
    await writeFile(guests.folder, 'in the way');
    const guest = await join(stored);
    expect(await (await memory()).secret()).toEqual(kept);
    expect(await room.until('warning')).toMatchObject({ message: expect.stringContaining('Guests need the code') });
    await guest.close();
    await (await join(stored)).close();
  });

  it('with a secret of another share is refused, and uses the code again only if the user entered it', async () => {
    const { sharing } = await start();
    await (await memory()).keep(secretOf(5));
    await expect(join(stored)).rejects.toMatchObject({ code: 'SHARE_FORGOTTEN' });
    await expect(join({ codeGiven: false })).rejects.toMatchObject({ code: 'SHARE_FORGOTTEN' });
    await (await memory()).forget();
    await expect(join(stored)).rejects.toMatchObject({ code: 'SHARE_FORGOTTEN' });
    expect([met(), sharing.guests.known]).toEqual([[0, 2], 0]);
    expect(room.events.filter(({ type }) => type === 'connected' || type === 'wrongCode')).toEqual([]);
    await (await memory()).keep(secretOf(5));
    const troubles: string[] = [];
    await (await join({ onTrouble: ({ code }) => troubles.push(code) })).close();
    expect([tap.count('HELLO'), troubles, sharing.guests.known]).toEqual([1, ['SHARE_FORGOTTEN'], 1]);
    await (await join(stored)).close();
  });

  it('cannot be impersonated by an eavesdropper on its attempt', async () => {
    const { sharing } = await start();
    await (await join()).close();
    const secret = (await (await memory()).secret()) ?? NONE;
    const { attempt } = await ReturnSecret.ofGuest(secret);
    const socket = connect(tap.port, '127.0.0.1');
    await once(socket, 'connect');
    const offer = { suites: ALL_SUITES, hardware: true, signal: room.signal };
    const thief = handshakeAsInitiator(socket, { ...offer, attempt, auth: new Uint8Array(32) });
    await expect(thief).rejects.toMatchObject({ code: 'HANDSHAKE_TAMPERED' });
    socket.destroy();
    expect(room.events.filter(({ type }) => type === 'connected')).toHaveLength(1);
    expect(sharing.guests.known).toBe(1);
    await (await join(stored)).close();
  });

  it('forgets a secret that was unused for long', async () => {
    const known = new KnownShares(shares);
    const [left, other] = [known.memoryOf('left'), known.memoryOf('other')];
    await left.keep(secretOf(1));
    const long = new Date(Date.now() - GUEST_UNUSED_MS - 1000);
    await utimes(room.path('guest', 'known-shares', 'left'), long, long);
    await other.keep(secretOf(2));
    expect([await left.secret(), await other.secret()]).toEqual([undefined, secretOf(2)]);
    for (const memory of [left, other]) memory.close();
  });

  it('forgets, and is forgotten, when the share ends', async () => {
    const ending = new AbortController();
    const sharing = await room.share('folder', { guests, signal: ending.signal });
    const guest = await room.connect({ memory: await memory() });
    ending.abort(new KeibiError('SESSION_CLOSED'));
    await sharing.close();
    await expect(guest.closed).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
    expect([await readdir(guests.folder), await readdir(shares.folder)]).toEqual([[], []]);
  });
});
